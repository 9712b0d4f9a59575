// SPDX-License-Identifier: MIT
// See state_home.h.
#include "cli/state_home.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>

namespace penna {

std::string state_home(const std::string& name) {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  std::string directory;
  if (state != nullptr && *state == '/')  // relative ones are to be ignored
    directory = state;
  else if (home != nullptr && *home == '/')
    directory = fmt::format("{}/.local/state", home);
  else
    return "";
  directory += name.empty() ? "/penna" : "/penna/" + name;
  for (size_t at = directory.find('/', 1); at != std::string::npos; at = directory.find('/', at + 1))
    ::mkdir(directory.substr(0, at).c_str(), 0700);
  ::mkdir(directory.c_str(), 0700);
  return directory;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See find_program.h.
#include "cli/find_program.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace penna {
namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string program_path(const std::string& word) {
  return word.find('/') != std::string::npos || exists(word) ? word : find_program(word);
}

Error no_such_program(const std::string& word) {
  return Error{fmt::format("there is no file '{}' in this directory and no program of that name", word)};
}

}  // namespace penna

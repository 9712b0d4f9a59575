// SPDX-License-Identifier: MIT
// See state_home.h.
#include "cli/state_home.h"

#include "base/user_directories.h"

namespace penna {

Result<std::string> state_home(const std::string& name) {
  const std::optional<std::string> state = user_directory("XDG_STATE_HOME", ".local/state");
  if (!state) return Error{"neither XDG_STATE_HOME nor HOME names a directory: set one of them"};
  const std::string directory = *state + "/penna" + (name.empty() ? "" : "/" + name);
  PENNA_TRY(make_private_directories(directory));
  return directory;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// The line of /proc/PID/stat behind the program's name. Invariant: whatever stands in a name, the fields behind it are
// found, for no later field holds a parenthesis (proc_pid_stat(5)).
#pragma once

#include <string_view>

namespace penna {

// The third field (the state) and all that follow, without the blank in front; empty when `line` is no such line.
inline std::string_view stat_from_state(std::string_view line) {
  const size_t name_end = line.rfind(')');
  return name_end == std::string_view::npos || name_end + 2 > line.size() ? std::string_view()
                                                                          : line.substr(name_end + 2);
}

}  // namespace penna

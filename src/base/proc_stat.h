// SPDX-License-Identifier: MIT
// The part of /proc/PID/stat after the program's name. Invariant: whatever the name contains, the fields after it are
// found, because no later field has a parenthesis (proc_pid_stat(5)).
#pragma once

#include <fmt/core.h>
#include <sys/types.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "base/file.h"

namespace penna {

// The third field (the state) and all that follow, without the preceding blank; empty if `line` is not such a line.
inline std::string_view stat_from_state(std::string_view line) {
  const size_t name_end = line.rfind(')');
  return name_end == std::string_view::npos || name_end + 2 > line.size() ? std::string_view()
                                                                          : line.substr(name_end + 2);
}

// The process that started it, or adopted it. 0: none, or unknown.
inline pid_t parent_of(pid_t pid) {
  const auto line = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  const std::string fields(line ? stat_from_state(*line) : std::string_view());
  int parent = 0;
  return std::sscanf(fields.c_str(), "%*c %d", &parent) == 1 ? parent : 0;
}

}  // namespace penna

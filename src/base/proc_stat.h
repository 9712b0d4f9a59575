// SPDX-License-Identifier: MIT
// The part of /proc/PID/stat after the program's name. Invariant: whatever the name contains, the fields after it are
// found, because no later field has a parenthesis (proc_pid_stat(5)).
#pragma once

#include <fmt/core.h>
#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/in_proc.h"

namespace penna {

// The third field (the state) and all that follow, without the preceding blank; empty if `line` is not such a line.
inline std::string_view stat_from_state(std::string_view line) {
  const size_t name_end = line.rfind(')');
  return name_end == std::string_view::npos || name_end + 2 > line.size() ? std::string_view()
                                                                          : line.substr(name_end + 2);
}

// Where its stack began: at the number of its arguments. 0: unknown.
inline uint64_t start_of_stack(pid_t pid) {
  const auto stat = read_file(in_proc(pid, "stat"), 4096);
  if (!stat) return 0;
  std::istringstream fields{std::string(stat_from_state(*stat))};
  std::string skipped;
  uint64_t start = 0;
  for (int i = 3; i < 28; ++i) fields >> skipped;
  return fields >> start ? start : 0;
}

// The process that has started it, or took it over. 0: there is none, or it is unknown.
inline pid_t parent_of(pid_t pid) {
  const auto line = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  const std::string fields(line ? stat_from_state(*line) : std::string_view());
  int parent = 0;
  return std::sscanf(fields.c_str(), "%*c %d", &parent) == 1 ? parent : 0;
}

// `pid`, or its nearest ancestor for which matches(pid_t) holds. 0: none.
template <typename Matches>
pid_t nearest_ancestor(pid_t pid, Matches&& matches) {
  constexpr int kMostParents = 64;
  for (int i = 0; i < kMostParents && pid > 1; ++i, pid = parent_of(pid))
    if (matches(pid)) return pid;
  return 0;
}

}  // namespace penna

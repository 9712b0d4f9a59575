// SPDX-License-Identifier: MIT
// A value in /proc/PID/status. Invariant: a process cannot fake one by its name, because the kernel escapes line ends
// in it (proc_pid_status(5)).
#pragma once

#include <fmt/core.h>
#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/file.h"

namespace penna {

// What is behind "NAME:" and a tab; empty if there is no such line.
inline std::string status_value(const std::string& status, std::string_view name) {
  const size_t at = ("\n" + status).find(fmt::format("\n{}:\t", name));
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size() + 2;
  return status.substr(begin, status.find('\n', begin) - begin);
}

// Of a thread of the process, or the one that /proc/self means. Empty, too, if it is gone.
inline std::string read_status_value(std::string_view directory, std::string_view name) {
  const auto status = read_file(fmt::format("{}/status", directory), 64 << 10);
  return status ? status_value(*status, name) : std::string();
}
inline std::string read_status_value(pid_t pid, pid_t thread, std::string_view name) {
  return read_status_value(fmt::format("/proc/{}/task/{}", pid, thread), name);
}

}  // namespace penna

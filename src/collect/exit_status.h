// SPDX-License-Identifier: MIT
// How a process ended, even if it is another process's child.
//
// Why several ways: the kernel reports a process's status to its parent. Others can read it in /proc until the parent
// has reaped it, and through the pidfd after that, since Linux 6.15.
// Invariant: nothing is made up: if no way works, or a result cannot be distinguished from a denial, the end is
// unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "recording/types.h"

namespace penna {

// For a process that has ended. Does not reap it.
std::pair<EndKind, int> end_of_process(int pidfd, uint32_t pid);

// The wait status at the end of a line of /proc/PID/stat. Empty if the process is not a zombie.
std::optional<int> status_in_stat(const std::string& line);

}  // namespace penna

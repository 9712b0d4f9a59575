// SPDX-License-Identifier: MIT
// How a process ended, also one that is another's child.
//
// Why it takes several ways: the kernel tells the status of a process to its parent. Others can read it in /proc until
// the parent has, and by the pidfd from then on, since Linux 6.15.
// Invariant: nothing is made up: where no way is open, or it cannot be told from a denial, the end is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "recording/types.h"

namespace penna {

// Of a process that has ended. Leaves it to be waited for.
std::pair<EndKind, int> end_of_process(int pidfd, uint32_t pid);

// The wait status at the end of a line of /proc/PID/stat. Nothing: it is no zombie's.
std::optional<int> status_in_stat(const std::string& line);

}  // namespace penna

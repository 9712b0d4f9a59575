// SPDX-License-Identifier: MIT
// The command line of a process that runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penna {

// The words of /proc/PID/cmdline. Of a title that was written over them ("redis-server *:6379") only the title: the
// room behind it reads as empty words. Empty: it cannot be told.
std::vector<std::string> command_of(uint32_t pid);

}  // namespace penna

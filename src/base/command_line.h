// SPDX-License-Identifier: MIT
// How a process that runs calls itself, and whose it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penna {

// The words of /proc/PID/cmdline. Of a title that was written over them ("redis-server *:6379") only the title: the
// room behind it reads as empty words. Empty: it cannot be told.
std::vector<std::string> command_of(uint32_t pid);

// The path of its program. Empty: it may not be read, or the process has ended: that comes before it is a zombie.
std::string executable_of(uint32_t pid);

// The name of a thread, or of the main one: /proc/PID/comm. Empty: it is gone.
std::string comm_of(uint32_t thread);

}  // namespace penna

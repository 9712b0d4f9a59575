// SPDX-License-Identifier: MIT
// The names that a running process goes by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penna {

// The words of /proc/PID/cmdline. If a title was written over them ("redis-server *:6379") only the title: the room
// after it reads as empty words. Empty: unknown.
std::vector<std::string> command_of(uint32_t pid);

// The path of its program. Empty: it may not be read, or the process has ended, even before it becomes a zombie.
std::string executable_of(uint32_t pid);

// The name of a thread, or of the main one: /proc/PID/comm. Empty: it is gone.
std::string comm_of(uint32_t thread);

}  // namespace penna

// SPDX-License-Identifier: MIT
// Where /proc has a file of a process.
//
// Why not simply /proc/PID: that is the directory of the first thread. When a program ends main() by pthread_exit(),
// the first thread is a zombie without memory, program and descriptors, while the others go on; they have directories
// of their own, with the same files (except map_files).
// Invariant: the path names a file of this process or none.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace penna {

// `file`: "mem", "maps", "exe", "fd" ... The path is good for one use at once: the thread that it names may end, too.
std::string in_proc(pid_t pid, std::string_view file);
inline std::string in_proc(uint32_t pid, std::string_view file) { return in_proc(static_cast<pid_t>(pid), file); }

}  // namespace penna

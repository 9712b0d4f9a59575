// SPDX-License-Identifier: MIT
// What the recorder put into the environment, and how it gets into the programs that this one starts.
//
// Why hidden: a program that prints or compares its environment must not see us. So the agent takes its variables out
// before main, and puts them into every environment that is handed to an exec.
// Invariant: the target sees LD_PRELOAD as its user set it, and no PENNA_SOCKET.
#pragma once

#include <stddef.h>

namespace penna::agent {

// Takes our variables out of `environ`, once; false when there are none, or before libc knows its environment.
bool take_from_environment();

// The recorder has been met, or will not be: until then, what the kernel shows of our variables tells a recorder who
// looks at the end that somebody is on the way to it. The path stays, for `penna ctl`: only the name of the variable
// changes.
void wipe_environment();

// The path of the recorder's socket; null when this program is not being recorded.
const char* recorder_socket();

// The same from a recorder inside this process, whose exec'd programs are not followed. False when it is too long.
bool set_recorder_socket(const char* path);

// The path by which this agent was preloaded; empty when it was not.
const char* agent_path();

// Appends what LD_PRELOAD shall be for a program that needs `runtime` first, or nothing (empty), where it was
// `preloaded`.
char* append_preload(char* to, const char* preloaded, const char* runtime);

// An environment for a new program: `from` with our variables, built in place of the caller's stack or any other
// storage. sizes() says how much is needed: `pointers` entries and `bytes` characters. `runtime`: as above.
struct ExecEnvironment {
  size_t pointers = 0;
  size_t bytes = 0;
};
ExecEnvironment exec_environment_size(char* const* from, const char* runtime);
char** make_exec_environment(char* const* from, const char* runtime, char** pointers, char* text);

}  // namespace penna::agent

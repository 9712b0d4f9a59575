// SPDX-License-Identifier: MIT
// The variables that the recorder adds to the environment, and how they reach the programs that this one starts.
//
// Why hidden: a program that prints or compares its environment must not see the recording. So the agent removes its
// variables before main, and adds them to every environment that is passed to an exec.
// Invariant: the target sees LD_PRELOAD as its user set it, and no PENNA_SOCKET.
#pragma once

#include <stddef.h>

namespace penna::agent {

// Removes our variables from `environ`, once. False if there are none, or if libc has not set up environ yet.
bool take_from_environment();

// Call once the recorder was met or gave no answer. Until then our variables in /proc/PID/environ show a recorder that
// wants to finish that this process is about to connect. Only the name of the variable is overwritten: `penna ctl`
// needs the path.
void wipe_environment();

// The path of the recorder's socket; null if this program is not recorded.
const char* recorder_socket();

// Sets the path for a recorder inside this process; programs that it execs are not followed. False if it is too long.
bool set_recorder_socket(const char* path);

// The path from which this agent was preloaded, or from which programs that are started can preload it; empty: none.
const char* agent_path();
void set_agent_path(const char* path);

// Whether it already holds our variables: one hook has added them, and the start then reaches another of our hooks.
bool has_our_variables(char* const* environment);

// Appends the value of LD_PRELOAD for a program that had `preloaded` and needs `runtime` first; an empty `runtime`
// means none. Returns the new end.
char* append_preload(char* to, const char* preloaded, const char* runtime);

// The environment of a new program: `from` plus our variables, built in the caller's memory (usually its stack).
// exec_environment_size() says how much that takes: `pointers` entries and `bytes` characters. `runtime`: as above.
struct ExecEnvironment {
  size_t pointers = 0;
  size_t bytes = 0;
};
ExecEnvironment exec_environment_size(char* const* from, const char* runtime);
char** make_exec_environment(char* const* from, const char* runtime, char** pointers, char* text);

}  // namespace penna::agent

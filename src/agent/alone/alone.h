// SPDX-License-Identifier: MIT
// The agent in a program that has no dynamic linker: begun by a recorder that has loaded it (penna_alone).
//
// Invariant: empty functions in the other agent, which a dynamic linker has loaded.
#pragma once

#include <stdint.h>

#include "penna/detail/attach.h"

namespace penna::agent {

#ifdef PENNA_ALONE
// From here on modules are found. `our_path` stays.
void begin_alone(const char* our_path);
// The program's function of that name, as the recorder has found it; 0: it has none.
uintptr_t program_function(const char* name);
// In front of _Unwind_Find_FDE, which then is program_find_frame; null: the program has none.
using FindFrame = const void* (*)(void* pc, void* bases);
extern __attribute__((visibility("hidden"))) FindFrame program_find_frame;
const void* find_frame(void* pc, void* bases);
// In front of fork, which then is program_fork: what libc calls around it elsewhere (pthread_atfork).
using Fork = int (*)();
extern __attribute__((visibility("hidden"))) Fork program_fork;
int entered_fork();
// Is it where it can be told of our frames, or has none that would need it? Without that nothing may be entered.
inline bool is_unwinder_told() {
  return reinterpret_cast<uintptr_t>(program_find_frame) != program_function("_Unwind_Find_FDE") ||
         program_find_frame == nullptr;
}
inline constexpr bool kAlone = true;
#else
inline void begin_alone(const char*) {}
inline bool is_unwinder_told() { return true; }
inline constexpr bool kAlone = false;
#endif

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// The standalone agent, for a program that has no dynamic linker: started by a recorder that has loaded it
// (penna_standalone).
//
// Invariant: empty functions in the other agent, which a dynamic linker loads.
#pragma once

#include <stdint.h>

#include "penna/detail/attach.h"

namespace penna::agent {

#ifdef PENNA_STANDALONE
// Makes modules known. `our_path` must stay valid.
void begin_standalone(const char* our_path);
// The program's function of that name, as the recorder has found it; 0: none.
uintptr_t program_function(const char* name);
// The hook of _Unwind_Find_FDE. program_find_frame is the original; null: the program has none.
using FindFrame = const void* (*)(void* pc, void* bases);
extern __attribute__((visibility("hidden"))) FindFrame program_find_frame;
const void* find_frame(void* pc, void* bases);
// The hook of fork; program_fork is the original. Does what libc otherwise calls around fork (pthread_atfork).
using Fork = int (*)();
extern __attribute__((visibility("hidden"))) Fork program_fork;
int entered_fork();
// Whether the program's unwinder can find the agent's frames, or does not exist. Otherwise nothing may be hooked.
inline bool unwinder_finds_agent() {
  return reinterpret_cast<uintptr_t>(program_find_frame) != program_function("_Unwind_Find_FDE") ||
         program_find_frame == nullptr;
}
inline constexpr bool kStandalone = true;
#else
inline void begin_standalone(const char*) {}
inline bool unwinder_finds_agent() { return true; }
inline constexpr bool kStandalone = false;
#endif

}  // namespace penna::agent

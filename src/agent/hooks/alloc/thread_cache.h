// SPDX-License-Identifier: MIT
// Blocks that a thread has freed and that libc keeps for its next malloc (glibc's tcache): when the thread ends, libc
// passes each of them to free() a second time. Only hooks in free itself see that, as of an agent that came late.
//
// Why by the call: there libc calls its own free directly, as no other place does that is not part of malloc; in a
// static program, where all do, the recorder has found the function.
// Invariant: a free that the program makes is never taken for one of these.
#pragma once

#include <stdint.h>

namespace penna::agent {

// From start_allocators().
void look_for_thread_cache();

// Is it a free by which libc empties a thread's cache? `caller_pc`: where it returns to.
bool empties_thread_cache(uintptr_t caller_pc);

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// Blocks that a thread has freed and that libc keeps for its next malloc (glibc's tcache): when the thread ends, libc
// passes each of them to free() a second time. Only hooks in free itself see that, like those of an agent that was
// loaded late.
//
// Why by the call: there libc calls its own free directly, as no other code outside malloc does; in a static program,
// where all code does, the recorder has found the function.
// Invariant: a free that the program makes is never mistaken for one of these.
#pragma once

#include <stdint.h>

namespace penna::agent {

// From start_allocators().
void look_for_thread_cache();

// Whether this is a free by which libc empties a thread's cache. `caller_pc`: its return address.
bool empties_thread_cache(uintptr_t caller_pc);

}  // namespace penna::agent

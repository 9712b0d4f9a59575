// SPDX-License-Identifier: MIT
// The state of another thread, by its pthread_t.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "agent/core/state.h"
#include "unwind/arch.h"

namespace penna::agent {

// A pthread_t is the address of the thread control block, and a thread-local variable is at the same distance from it
// in every thread. The result may be unmapped if the thread has ended.
inline const Thread* thread_of(pthread_t which) {
  return reinterpret_cast<const Thread*>(which + (reinterpret_cast<uintptr_t>(&thread) - unwind::thread_pointer()));
}

}  // namespace penna::agent

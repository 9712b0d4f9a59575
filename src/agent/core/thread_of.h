// SPDX-License-Identifier: MIT
// What another thread has told of itself, by its pthread_t.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "agent/core/state.h"
#include "unwind/arch.h"

namespace penna::agent {

// A pthread_t is the address of the thread's control block, from which our thread-local variable lies as far as in this
// thread. May be unreadable, where the thread has ended.
inline const Thread* thread_of(pthread_t which) {
  return reinterpret_cast<const Thread*>(which + (reinterpret_cast<uintptr_t>(&thread) - unwind::thread_pointer()));
}

}  // namespace penna::agent

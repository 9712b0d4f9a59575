// SPDX-License-Identifier: MIT
// See threads.h. The slow path of thread_x86_64.S.
#include "agent/standalone/threads.h"

#include <errno.h>

#include "agent/core/signal_block.h"
#include "agent/core/sys.h"
#include "agent/stacks/stacks.h"
#include "agent/standalone/standalone.h"

namespace penna::agent {

extern "C" {
ThreadKey penna_thread_keys[kMostThreads + kThreadProbes];
ThreadSlot penna_thread_slots[kMostThreads + kThreadProbes];
}

namespace {

// Shared by all threads for which there is no room. They record nothing, and count what is lost.
ThreadSlot shared_slot;

uint32_t home_of(uintptr_t pointer) { return static_cast<uint32_t>(pointer * kThreadMix >> (64 - kThreadBits)); }

// As libc has stored it in the thread's control block; 0: the thread is just ending.
uint32_t noted_tid(uintptr_t pointer) {
  uint32_t tid;
  __builtin_memcpy(&tid, reinterpret_cast<const void*>(pointer + static_cast<uintptr_t>(penna_agent_standalone.tid_at)),
                   sizeof tid);
  return tid;
}

bool has_ended(uint32_t tid) { return sys(SYS_tgkill, sys(SYS_getpid), tid, 0) == -ESRCH; }

bool take(ThreadKey& key, uintptr_t seen) {
  return __atomic_compare_exchange_n(&key.pointer, &seen, kKeyTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// UINT32_MAX: it has none. Signals may interrupt: another thread's key is never mistaken for one's own.
uint32_t find(uintptr_t pointer) {
  for (uint32_t i = home_of(pointer), end = i + kThreadProbes; i < end; ++i) {
    const uintptr_t seen = __atomic_load_n(&penna_thread_keys[i].pointer, __ATOMIC_RELAXED);
    if (seen == pointer) return i;
    if (seen == 0) break;
  }
  return UINT32_MAX;
}

// For a new thread: keeps nothing of the entry's previous owner except its memory. If nothing was recorded since this
// process was forked, the thread is the one that called fork, and the child still needs its state (forget_parent()).
void fill(uint32_t number, uintptr_t pointer, uint32_t tid, bool is_own) {
  Thread& its = penna_thread_slots[number].thread;
  if (!is_own || armed() != 0) {
    ThreadState* const state = its.state;
    its = {};
    its.cursor = kNoChunk;
    if (state != nullptr) return_thread_state(state);
  }
  penna_thread_keys[number].tid = tid;
  __atomic_store_n(&penna_thread_keys[number].pointer, pointer, __ATOMIC_RELEASE);
}

// Takes a free entry, or that of a thread which has ended.
Thread* make(uintptr_t pointer, uint32_t tid) {
  for (uint32_t i = home_of(pointer), end = i + kThreadProbes; i < end; ++i) {
    ThreadKey& key = penna_thread_keys[i];
    const uintptr_t seen = __atomic_load_n(&key.pointer, __ATOMIC_RELAXED);
    if (seen == kKeyTaken || (seen != 0 && !has_ended(key.tid)) || !take(key, seen)) continue;
    fill(i, pointer, tid, false);
    return &penna_thread_slots[i].thread;
  }
  shared_slot.thread.cursor = kNoChunk;
  shared_slot.thread.muted = kNoRoom;
  return &shared_slot.thread;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), used)) Thread* penna_find_thread(uintptr_t pointer) {
  const uint32_t tid = noted_tid(pointer), found = find(pointer);
  if (found != UINT32_MAX && (tid == 0 || penna_thread_keys[found].tid == tid))
    return &penna_thread_slots[found].thread;
  SignalBlock signals;
  if (found != UINT32_MAX && take(penna_thread_keys[found], pointer)) {
    fill(found, pointer, tid, true);
    return &penna_thread_slots[found].thread;
  }
  return make(pointer, tid);
}

void describe_threads(penna_attachment* shared) {
  shared->threads = reinterpret_cast<uintptr_t>(penna_thread_keys);
  shared->thread_slots = reinterpret_cast<uintptr_t>(penna_thread_slots);
  shared->thread_count = kMostThreads + kThreadProbes;
  shared->thread_bytes = sizeof(ThreadSlot);
  shared->tid_at = penna_agent_standalone.tid_at;
  shared->cursor = offsetof(Thread, cursor);
  shared->lock_call = offsetof(Thread, lock_call);
  shared->in_allocator = offsetof(Thread, in_allocator);
  shared->unwinder = program_function("_Unwind_Find_FDE");
  shared->thread_kept = offsetof(Thread, linker_stays);
}

}  // namespace penna::agent

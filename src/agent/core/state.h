// SPDX-License-Identifier: MIT
// The agent's state per process and per thread.
//
// Why two kinds of storage: `process` is on a page that the kernel clears in a forked child (MADV_WIPEONFORK), so a
// child can never write into its parent's chunks, however it was created. `thread` is the only thread-local variable;
// it is small because it is taken from every thread's stack.
// Invariant: process.armed == 0 means that this process has not met a recorder yet; see after_fork_or_start().
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "penna/channel.h"
#include "penna/detail/attach.h"

namespace penna::agent {

// Bits of Process::armed beside those of penna_event_class.
inline constexpr uint32_t kStarted = PENNA_NOTHING_RECORDED;  // the rendezvous was tried
// Calls are recorded, every code address is in a module that has its MODULE record, and a call needs nothing else.
inline constexpr uint32_t kCallsAtOnce = 1u << 9;
// Locks take the slow path: lock_sample, min_wait or long_hold is set, or lock functions are patched.
inline constexpr uint32_t kLockOptions = 1u << 10;
inline constexpr uint32_t class_bit(penna_event_class event_class) { return 1u << event_class; }

// Bits of Process::alloc_options: why allocations and frees take the slow path.
inline constexpr uint32_t kSampled = 1;            // sample_bytes is not 0
inline constexpr uint32_t kFreeStacks = 2;         // frees record their stack
inline constexpr uint32_t kAllocatorsEntered = 4;  // Thread::in_allocator may be set

struct alignas(4096) Process {
  uint32_t armed;          // classes being recorded, and the bits above; relaxed
  uint32_t alloc_options;  // 0 = the fast path
  uint8_t* chunks;         // address of chunk 0
  penna_channel* channel;  // null if no recorder answered
  penna_doorbell* doorbell;
  const penna_life* life;
  uint64_t* free_bitmap;
  uint32_t* stack_hash;
  penna_stack_node* stack_nodes;
  uint32_t hash_mask;
  // How many of the channel's max_nodes and chunk_count are usable so far (channel_room.h); they grow, atomic.
  uint32_t nodes_ready, chunks_ready;
  uint32_t backlog_limit;
  uint32_t stack_depth;
  uint32_t on_full;  // penna_on_full
  uint64_t sample_bytes;
  uint64_t min_wait;    // ticks
  uint64_t long_hold;   // ticks; 0: holds are not checked
  uint64_t timed_wait;  // ticks: a lock function that cannot be tried and takes this long has waited
  uint32_t lock_sample;
};

struct ThreadState;  // thread_state.h: the larger part, allocated from a pool

// Thread::cursor: {chunk number, offset of the next record}; an offset at or past the end means: take a new chunk.
inline constexpr uint64_t kNoChunk = PENNA_NO_CHUNK;

// Thread::muted of all threads for which there is no room (standalone/threads.h): their events are lost, and counted.
inline constexpr uint32_t kNoRoom = 2;

inline constexpr uint32_t kMostHeld = 8;  // a power of two

struct Thread {
  uint64_t cursor;
  ThreadState* state;
  uint64_t time_end;                       // of the current chunk: later times cannot be encoded in it
  uint64_t sequence;                       // of the next chunk
  uint64_t discarded;                      // events lost by this thread
  uint32_t serial;                         // 0 = not registered with the channel yet
  uint32_t pc_high;                        // of the last call that was recorded in long form
  uint32_t lost_class[PENNA_CLASS_COUNT];  // not yet reported in a LOST record
  uint32_t tid;
  uint32_t muted;         // not 0: this thread records nothing (penna/detail/join.h)
  uint64_t until_sample;  // bytes that it may allocate until the next sample (sampling.h)
  uint64_t random;        // state of the random generator; 0 = not seeded
  uint32_t in_allocator;  // not 0: nested calls are part of one that is recorded (hooks/entered_allocators.cc)
  void* inside_block;     // the last nested block
  uint64_t inside_bytes;
  uint32_t held_count;                  // locks held, as far as is known (lock_watch.h)
  uint64_t held[kMostHeld];             // the last of these
  uint64_t held_since[kMostHeld];       // with kLockOptions: ticks; 0: the acquisition was not recorded
  struct OnceCall* once_call;           // the innermost pthread_once (hooks/waits.cc)
  struct LockCall* lock_call;           // the innermost lock function that was entered through a patch (lock_calls.h)
  uint16_t linker_stays, linker_turns;  // nesting of dynamic linker functions (linker_turns.h)
  uint64_t fork_ticks;                  // when fork was called; 0: not forking, or by a bare system call
};

// Without a dynamic linker each access calls penna_thread_offset (standalone/threads.h), as it would otherwise call the
// linker.
#ifdef PENNA_STANDALONE
#define PENNA_TLS_MODEL __attribute__((tls_model("global-dynamic")))
#else
#define PENNA_TLS_MODEL __attribute__((tls_model("initial-exec")))
#endif

#pragma GCC visibility push(hidden)  // or each access would load the address from the GOT first
extern Process process;

// Adds to a counter that the recorder reads; does nothing without a channel.
inline void count(uint64_t penna_counters::*counter, uint64_t by = 1) {
  if (process.channel != nullptr) __atomic_fetch_add(&(process.channel->counters.*counter), by, __ATOMIC_RELAXED);
}
extern uint32_t module_generation;  // incremented when code is unmapped; a forked child continues its parent's count
extern __thread Thread thread PENNA_TLS_MODEL;
#pragma GCC visibility pop

// This process has installed a seccomp filter that may kill it for a system call: the agent then makes only those that
// it cannot do without. Inherited by forked children; reset by exec.
inline bool system_calls_filtered = false;

inline uint32_t armed() { return __atomic_load_n(&process.armed, __ATOMIC_RELAXED); }

// From here on the conditions of kCallsAtOnce no longer hold.
inline void end_calls_at_once() {
  if ((armed() & kCallsAtOnce) == 0) return;
  __atomic_fetch_and(&process.armed, ~kCallsAtOnce, __ATOMIC_RELAXED);
  __atomic_store_n(&process.channel->calls_at_once, 0, __ATOMIC_RELAXED);
}

// Meets the recorder, or finds again that there is none. Called when armed() == 0: before the first event of a program,
// and of a forked child. Async-signal-safe. Returns the new armed().
uint32_t after_fork_or_start();

// Whether events of this class are recorded now. The only test that every event pays for.
__attribute__((always_inline)) inline bool recording(penna_event_class event_class) {
  uint32_t bits = armed();
  if (__builtin_expect((bits & class_bit(event_class)) != 0, 1)) return true;
  return __builtin_expect(bits == 0, 0) && (after_fork_or_start() & class_bit(event_class)) != 0;
}

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// What the agent knows of its process and of the current thread.
//
// Why two kinds of storage: `process` lies on a page that the kernel empties in a forked child (MADV_WIPEONFORK), so a
// child can never write into the chunks of its parent, whatever way it was made. `thread` is the one thread-local
// variable, small because it is taken from every thread's stack.
// Invariant: process.armed == 0 means that this process has not met a recorder yet; see after_fork_or_start().
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

// Bits of Process::armed beside those of penna_event_class.
inline constexpr uint32_t kStarted = 1u << 8;  // the rendezvous has been tried
inline constexpr uint32_t kCallsAtOnce =
    1u << 9;  // calls are recorded, a MODULE record names all code there is, and nothing else is wanted of a call
// Locks are not recorded in the usual way: lock_sample, min_wait, long_hold; or functions of locks are entered.
inline constexpr uint32_t kLockOptions = 1u << 10;
inline constexpr uint32_t class_bit(penna_event_class event_class) { return 1u << event_class; }

// Bits of Process::alloc_options: which allocations and frees are not recorded in the usual way.
inline constexpr uint32_t kSampled = 1;            // sample_bytes is not 0
inline constexpr uint32_t kFreeStacks = 2;         // frees say where
inline constexpr uint32_t kAllocatorsEntered = 4;  // Thread::in_allocator is set at times

struct alignas(4096) Process {
  uint32_t armed;          // classes being recorded, and the bits above; relaxed
  uint32_t alloc_options;  // 0 = the usual way
  uint8_t* chunks;         // where chunk 0 begins
  penna_channel* channel;  // null when no recorder answered
  penna_doorbell* doorbell;
  const penna_life* life;
  uint64_t* free_bitmap;
  uint32_t* stack_hash;
  penna_stack_node* stack_nodes;
  uint32_t hash_mask;
  uint32_t nodes_ready;  // of the channel's max_nodes, those that can be used so far (stack_room.h); grows, atomic
  uint32_t chunk_count;
  uint32_t backlog_limit;
  uint32_t stack_depth;
  uint32_t on_full;  // penna_on_full
  uint64_t sample_bytes;
  uint64_t min_wait;    // ticks
  uint64_t long_hold;   // ticks; 0: no hold is long
  uint64_t timed_wait;  // ticks: so long in a lock function that cannot be tried is a wait
  uint32_t lock_sample;
};

struct ThreadState;  // thread_state.h: the larger part, from a pool

// Thread::cursor: {chunk number, offset of the next record}; an offset at or past the end means that a chunk is wanted.
inline constexpr uint64_t kNoChunk = uint64_t{UINT32_MAX} << 32 | PENNA_CHUNK_BYTES;

inline constexpr uint32_t kMostHeld = 8;  // a power of two

struct Thread {
  uint64_t cursor;
  ThreadState* state;
  uint64_t time_end;                       // of the last chunk: in it, times from here on cannot be told
  uint64_t sequence;                       // of the next chunk
  uint64_t discarded;                      // events lost by this thread
  uint32_t serial;                         // 0 = not yet known to the channel
  uint32_t pc_high;                        // of the last call that was recorded in long form
  uint32_t lost_class[PENNA_CLASS_COUNT];  // not yet told in a LOST record
  uint32_t tid;
  uint32_t muted;         // not 0: nothing of it is recorded (penna/detail/join.h)
  uint64_t until_sample;  // bytes that it may allocate until a block is recorded (sampling.h)
  uint64_t random;        // 0 = not yet drawn
  uint32_t
      in_allocator;    // not 0: allocations and frees are parts of one that is recorded (hooks/entered_allocators.cc)
  void* inside_block;  // the last of these
  uint64_t inside_bytes;
  uint32_t held_count;                  // locks held, as far as they are known (lock_watch.h)
  uint64_t held[kMostHeld];             // the last of these
  uint64_t held_since[kMostHeld];       // with kLockOptions: ticks; 0: the acquisition was not told
  struct OnceCall* once_call;           // the innermost pthread_once (hooks/waits.cc)
  struct LockCall* lock_call;           // of a lock function that is entered (lock_calls.h)
  uint16_t linker_stays, linker_turns;  // that it is in (linker_turns.h)
  uint64_t fork_ticks;                  // since when it forks; 0: it does not, or by a bare system call
};

#pragma GCC visibility push(hidden)  // or each use would ask for the address first
extern Process process;

// One of the counters that the recorder reads; nothing where there is none.
inline void count(uint64_t penna_counters::*counter, uint64_t by = 1) {
  if (process.channel != nullptr) __atomic_fetch_add(&(process.channel->counters.*counter), by, __ATOMIC_RELAXED);
}
extern uint32_t module_generation;  // grows with each unmapping of code; a forked child goes on counting
extern __thread Thread thread __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

// This process may have forbidden itself system calls (seccomp), and be killed for one: the agent makes none then that
// it can do without. Forked children have it of their parent; what an exec brings begins anew.
inline bool system_calls_filtered = false;

inline uint32_t armed() { return __atomic_load_n(&process.armed, __ATOMIC_RELAXED); }

// From here on a call may take another way than kCallsAtOnce says.
inline void end_calls_at_once() {
  if ((armed() & kCallsAtOnce) == 0) return;
  __atomic_fetch_and(&process.armed, ~kCallsAtOnce, __ATOMIC_RELAXED);
  __atomic_store_n(&process.channel->calls_at_once, 0, __ATOMIC_RELAXED);
}

// Meets the recorder, or finds again that there is none. Called with armed() == 0: before the first event of a program,
// and of a forked child. Async-signal-safe. Returns the new armed().
uint32_t after_fork_or_start();

// True when events of this class are to be recorded now. The one test on the way of every event.
__attribute__((always_inline)) inline bool recording(penna_event_class event_class) {
  uint32_t bits = armed();
  if (__builtin_expect((bits & class_bit(event_class)) != 0, 1)) return true;
  return __builtin_expect(bits == 0, 0) && (after_fork_or_start() & class_bit(event_class)) != 0;
}

}  // namespace penna::agent

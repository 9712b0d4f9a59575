// SPDX-License-Identifier: MIT
// record --sample-bytes=N: which blocks are recorded, and which of those are still there.
//
// Each thread counts the bytes that it allocates down to a point that is drawn anew each time, exponentially
// distributed with mean N: so a block of s bytes is recorded with the probability 1 - exp(-s / N), whatever came before
// it, and stands for 1 / that many of its kind. One of 0 bytes counts as one of 1, or none would ever be recorded.
// Frees must cost little, as nearly all are of blocks that are not recorded: one byte of a filter says so. As long as
// few blocks are in the set that byte is one of few, which stay in the nearest cache beside what the program has there;
// else a larger filter is asked, too.
// Invariant: a block whose allocation is recorded is in the set until its free is; async-signal-safe; no locks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/core/state.h"

namespace penna::agent {

// One in process.lock_sample, drawn at random.
bool draw_lock_sample();

// Slow halves.
bool draw_next_sample(size_t size);
bool add_sample(const void* block);
bool take_sample(const void* block);

inline uint64_t sample_hash(const void* block) { return reinterpret_cast<uintptr_t>(block) * 0x9e3779b97f4a7c15; }

// How many of the set's blocks have a hash that begins with these bits.
template <uint32_t kBits>
class SampleFilter {
 public:
  bool has_none(uint64_t hash) const { return __atomic_load_n(&counts_[hash >> (64 - kBits)], __ATOMIC_RELAXED) == 0; }
  void count(uint64_t hash, int by);

 private:
  uint8_t counts_[1 << kBits];  // 255: that many or more, for good
};
#pragma GCC visibility push(hidden)
extern SampleFilter<12> near_sample_filter;
extern SampleFilter<16> far_sample_filter;
#pragma GCC visibility pop

// The usual ways with sampling, for hooks to inline: neither this block nor its free is recorded.
__attribute__((always_inline)) inline bool passes_unsampled(size_t size) {
  const uint64_t until = thread.until_sample, counted = size + (size == 0);
  if (__builtin_expect(counted > until, 0)) return false;
  thread.until_sample = until - counted;
  return true;
}
__attribute__((always_inline)) inline bool is_unsampled(const void* block) {
  const uint64_t hash = sample_hash(block);
  return __builtin_expect(near_sample_filter.has_none(hash), 1) || far_sample_filter.has_none(hash);
}

// Shall this new block be recorded? Without sampling: yes.
inline bool sample_block(const void* block, size_t size) {
  if (process.sample_bytes == 0) return true;
  return !passes_unsampled(size) && draw_next_sample(size) && add_sample(block);
}

// Shall the free of this block be recorded? It is no longer in the set then.
inline bool forget_sample(const void* block) {
  if (process.sample_bytes == 0) return true;
  return !is_unsampled(block) && take_sample(block);
}

// The free that forget_sample() was asked for did not happen.
inline void keep_sample(const void* block) { add_sample(block); }

}  // namespace penna::agent

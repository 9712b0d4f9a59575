// SPDX-License-Identifier: MIT
// record --sample-bytes=N: which blocks are recorded, and which of those are still allocated.
//
// Each thread counts down the bytes that it allocates. The distance to the next sample is drawn each time from an
// exponential distribution with mean N: so a block of s bytes is recorded with probability 1 - exp(-s / N), whatever
// came before it, and stands for 1 / that many blocks of its kind. A block of 0 bytes counts as 1, or none would ever
// be recorded.
// Frees must be cheap, as nearly all are of blocks that are not recorded: one byte of a filter identifies these. While
// the set is small, a small filter is enough, which stays in the L1 cache with the program's data; otherwise a larger
// one is checked, too.
// Invariant: a block whose allocation was recorded is in the set until its free is; async-signal-safe; no locks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/core/state.h"

namespace penna::agent {

// True for one in process.lock_sample calls, at random.
bool draw_lock_sample();

// Slow paths of the inline functions below.
bool draw_next_sample(size_t size);
bool add_sample(const void* block);
bool take_sample(const void* block);

inline uint64_t sample_hash(const void* block) { return reinterpret_cast<uintptr_t>(block) * 0x9e3779b97f4a7c15; }

// A counting filter: how many blocks of the set have a hash that begins with these kBits bits.
template <uint32_t kBits>
class SampleFilter {
 public:
  bool has_none(uint64_t hash) const { return __atomic_load_n(&counts_[hash >> (64 - kBits)], __ATOMIC_RELAXED) == 0; }
  void count(uint64_t hash, int by);

 private:
  uint8_t counts_[1 << kBits];  // 255: saturated for good
};
#pragma GCC visibility push(hidden)
extern SampleFilter<12> near_sample_filter;
extern SampleFilter<16> far_sample_filter;
#pragma GCC visibility pop

// The common paths with sampling, for hooks to inline: this block (its free) is not recorded.
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

// Whether to record this new block. Without sampling: always.
inline bool sample_block(const void* block, size_t size) {
  if (process.sample_bytes == 0) return true;
  return !passes_unsampled(size) && draw_next_sample(size) && add_sample(block);
}

// Whether to record the free of this block, which is removed from the set.
inline bool forget_sample(const void* block) {
  if (process.sample_bytes == 0) return true;
  return !is_unsampled(block) && take_sample(block);
}

// Undoes forget_sample(): the block was not freed after all.
inline void keep_sample(const void* block) { add_sample(block); }

}  // namespace penna::agent

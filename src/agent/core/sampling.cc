// SPDX-License-Identifier: MIT
// See sampling.h. The set is a hash table whose buckets are one cache line each; a block may be in any of kTries
// buckets.
//
// Why relaxed throughout: the thread that frees a block got it from the thread that allocated it, in a way that already
// orders the two; blocks that other threads add and take meanwhile have other addresses.
#include "agent/core/sampling.h"

#include "agent/core/writer.h"
#include "penna/clock.h"

namespace penna::agent {

SampleFilter<12> near_sample_filter;
SampleFilter<16> far_sample_filter;

template <uint32_t kBits>
void SampleFilter<kBits>::count(uint64_t hash, int by) {
  uint8_t* count = &counts_[hash >> (64 - kBits)];
  uint8_t seen = __atomic_load_n(count, __ATOMIC_RELAXED);
  while (seen != UINT8_MAX && !__atomic_compare_exchange_n(count, &seen, static_cast<uint8_t>(seen + by), true,
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

namespace {

constexpr uint32_t kBucketBits = 15, kSlots = 8, kTries = 8;
uintptr_t buckets[1 << kBucketBits][kSlots];  // addresses; 0: free

uintptr_t* bucket_of(const void* block, uint32_t nth) {
  const auto home = static_cast<uint32_t>(sample_hash(block) >> (64 - kBucketBits));
  return buckets[(home + nth) & ((1 << kBucketBits) - 1)];
}

void count_in_filters(const void* block, int by) {
  near_sample_filter.count(sample_hash(block), by);
  far_sample_filter.count(sample_hash(block), by);
}

// xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016.
uint64_t next_random() {
  uint64_t x = thread.random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  thread.random = x;
  return x * 0x2545f4914f6cdd1d;
}

// The natural logarithm of a normal x > 0, to 1e-6: of the mantissa m in [0.7, 1.42) by the series of 2 artanh((m - 1)
// / (m + 1)).
double logarithm(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1023} << 52;
  double m;
  __builtin_memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1), q = s * s;
  const double series = 2 * s * (1 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q / 9))));
  return exponent * 0.6931471805599453 + series;
}

uint64_t draw_distance() {
  const double uniform = (static_cast<double>(next_random() >> 11) + 1) * 0x1p-53;  // (0, 1]
  return static_cast<uint64_t>(-logarithm(uniform) * static_cast<double>(process.sample_bytes));
}

void seed() { thread.random = (penna_now() ^ reinterpret_cast<uintptr_t>(&thread)) * 0x9e3779b97f4a7c15 | 1; }

}  // namespace

bool draw_lock_sample() {
  if (thread.random == 0) {
    seed();
    thread.until_sample = draw_distance();  // the draws for allocations start with the seed
  }
  return next_random() % process.lock_sample == 0;
}

// The thread's countdown has run out, or was not drawn yet.
__attribute__((noinline, cold)) bool draw_next_sample(size_t size) {
  bool chosen = true;
  if (thread.random == 0) {
    seed();
    thread.until_sample = draw_distance();
    chosen = !passes_unsampled(size);
  }
  if (chosen) thread.until_sample = draw_distance();
  return chosen;
}

// False: no slot is free. The block is then not recorded, and counted as lost.
__attribute__((noinline, cold)) bool add_sample(const void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  for (uint32_t nth = 0; nth < kTries; ++nth) {
    uintptr_t* bucket = bucket_of(block, nth);
    for (uint32_t i = 0; i < kSlots; ++i) {
      uintptr_t none = 0;
      if (!__atomic_compare_exchange_n(&bucket[i], &none, address, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
      count_in_filters(block, 1);
      return true;
    }
  }
  lose_for(PENNA_LOSS_SAMPLED, PENNA_ALLOC, 1);
  return false;
}

__attribute__((noinline, cold)) bool take_sample(const void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  for (uint32_t nth = 0; nth < kTries; ++nth) {
    uintptr_t* bucket = bucket_of(block, nth);
    for (uint32_t i = 0; i < kSlots; ++i) {
      uintptr_t seen = address;
      if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) != address ||
          !__atomic_compare_exchange_n(&bucket[i], &seen, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
      count_in_filters(block, -1);
      return true;
    }
  }
  return false;
}

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// The lower bound for any recorder of this design on this machine: the time stamp and the stores, and nothing else.
//
// The third argument selects the kind of event: rdtsc; point (rdtsc and 32 bytes); calls (twice rdtsc and 16 bytes);
// alloc (twice rdtsc and 32 bytes); alloc20, alloc60 (the same and a walk of so many frame pointers); locks (like
// calls). Stores go through a ring of 4 MiB per thread that has been written before: warm, but larger than the inner
// caches, like a pool of chunks.
#include <immintrin.h>
#include <x86intrin.h>

#include <cstdint>
#include <cstring>

#include "harness.h"

namespace {

constexpr size_t kRingBytes = size_t{4} << 20;
constexpr int kMaxThreads = 256;
constexpr size_t kFrames = 64;  // no walk is longer

struct alignas(128) Ring {  // no two threads write to one cache line
  char* bytes = nullptr;
  size_t at = 0;
  uint64_t seen = 0;
};
Ring rings[kMaxThreads];
long (*limit)(long, Ring&);

template <size_t Size>
__attribute__((always_inline)) inline void record(Ring& ring, uint64_t value) {
  const uint64_t now = __rdtsc();
  char* to = ring.bytes + ring.at;
  uint64_t words[Size / 8];
  for (size_t i = 0; i < Size / 8; ++i) words[i] = value + i;
  words[0] = now;
  memcpy(to, words, Size);
  ring.at = (ring.at + Size) & (kRingBytes - 1);
}

// Each link points to the next one, one cache line further: a stack of small frames, walked by frame pointers.
__attribute__((always_inline)) inline uint64_t walk(const uint64_t* frame, int frames) {
  uint64_t sum = 0;
  for (int i = 0; i < frames; ++i) {
    sum ^= frame[1];
    frame = reinterpret_cast<const uint64_t*>(frame[0]);
  }
  return sum;
}

template <size_t Size, int Times, int Frames>
long loop(long iterations, Ring& ring) {
  alignas(64) uint64_t stack[8 * kFrames];
  for (size_t i = 0; i < kFrames; ++i) {
    stack[i * 8] = reinterpret_cast<uint64_t>(&stack[(i + 1) % kFrames * 8]);
    stack[i * 8 + 1] = i;
  }
  const uint64_t* top = stack;
  for (long i = 0; i < iterations; ++i) {
    bench::opaque(top);
    uint64_t value = static_cast<uint64_t>(i);
    if constexpr (Frames != 0) value += walk(top, Frames);
    for (int time = 0; time < Times; ++time) {
      if constexpr (Size == 0) {
        uint64_t now = __rdtsc();
        bench::opaque(now);
      } else {
        record<Size>(ring, value);
      }
    }
  }
  return iterations;
}

struct Mode {
  const char* name;
  long (*loop)(long, Ring&);
};
constexpr Mode kModes[] = {{"rdtsc", loop<0, 1, 0>},  {"point", loop<32, 1, 0>},    {"calls", loop<16, 2, 0>},
                           {"alloc", loop<32, 2, 0>}, {"alloc20", loop<32, 2, 20>}, {"alloc60", loop<32, 2, 60>},
                           {"locks", loop<16, 2, 0>}};

void setup(int thread) {
  rings[thread].bytes = static_cast<char*>(aligned_alloc(64, kRingBytes));
  memset(rings[thread].bytes, 1, kRingBytes);
}
long body(long iterations, int thread) { return limit(iterations, rings[thread]); }

}  // namespace

int main(int argc, char** argv) {
  for (const Mode& mode : kModes)
    if (argc > 3 && strcmp(argv[3], mode.name) == 0) limit = mode.loop;
  if (limit == nullptr || atoi(argv[2]) > kMaxThreads) {
    fprintf(stderr, "usage: %s ITERATIONS THREADS rdtsc|point|calls|alloc|alloc20|alloc60|locks\n", argv[0]);
    return 2;
  }
  return bench::run(argc, argv, body, setup);
}

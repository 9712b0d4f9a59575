// SPDX-License-Identifier: MIT
// malloc and free, from a stack of DEPTH frames below the loop (third argument, default 1), by paths in an ORDER (the
// fourth).
//
// Each allocation comes from another of up to 64 paths, with another size, and lives for 64 further ones, as in a
// realistic program: the outer frames stay, the inner 7 are left and entered again for each allocation, each time by
// other callers. ORDER: "turn" (the default), one path after the other, which a processor learns to predict; "random",
// which it cannot; "same", one path only. An operation is one malloc and the free that it causes. With DEPTH 1 the loop
// itself allocates.
#include <cstdint>
#include <cstring>

#include "harness.h"

namespace {

constexpr int kWindow = 64;  // a thread's live blocks
constexpr int kMaxThreads = 64;

struct alignas(128) Window {  // no two threads write to one cache line
  void* blocks[kWindow] = {};
  unsigned next = 0;
  uint32_t random = 1;
};
Window windows[kMaxThreads];
int depth = 1;
enum class Order { kTurn, kRandom, kSame };
Order order = Order::kTurn;

__attribute__((always_inline)) inline void allocate(Window& window, uint32_t path) {
  void*& place = window.blocks[window.next++ % kWindow];
  free(place);
  place = malloc(16 + path % 241);
  *static_cast<volatile char*>(place) = 1;
}

// The next frame is one of two functions, chosen by a bit of `path`: identical except for their address.
__attribute__((noinline)) void left(Window& window, int frames, uint32_t path);
__attribute__((noinline)) void right(Window& window, int frames, uint32_t path);
__attribute__((always_inline)) inline void step(Window& window, int frames, uint32_t path) {
  if (frames <= 1) {
    allocate(window, path);
  } else if ((path >> (frames - 2) & 1) != 0) {
    right(window, frames - 1, path);
  } else {
    left(window, frames - 1, path);
  }
  asm volatile("");  // no tail calls: each level is a frame
}
void left(Window& window, int frames, uint32_t path) { step(window, frames, path); }
void right(Window& window, int frames, uint32_t path) {
  step(window, frames, path);
  asm volatile("");  // keeps the two from being folded into one
  asm volatile("");
}

constexpr int kInner = 7;

// The lowest six bits choose the path; the others only vary the size.
uint32_t path_of(Window& window, long i) {
  const uint32_t turn = static_cast<uint32_t>(i) * 37;  // a cycle that visits all 64
  if (order == Order::kTurn) return turn;
  if (order == Order::kSame) return turn & ~63u;
  window.random = window.random * 1664525 + 1013904223;  // its low bits repeat early
  return window.random >> 12;
}

long loop(Window& window, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    const uint32_t path = path_of(window, i);
    if (depth <= 1) {
      allocate(window, path);
    } else {
      step(window, depth < kInner ? depth : kInner, path);
    }
  }
  return iterations;
}

// The frames around the loop.
__attribute__((noinline)) long outer(Window& window, long iterations, int frames) {
  const long done = frames <= 0 ? loop(window, iterations) : outer(window, iterations, frames - 1);
  asm volatile("");
  return done;
}

long body(long iterations, int thread) { return outer(windows[thread], iterations, depth - kInner); }

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3) depth = atoi(argv[3]);
  if (argc > 4) {
    order = strcmp(argv[4], "same") == 0     ? Order::kSame
            : strcmp(argv[4], "random") == 0 ? Order::kRandom
                                             : Order::kTurn;
  }
  if (argc > 2 && atoi(argv[2]) > kMaxThreads) return 2;
  return bench::run(argc, argv, body);
}

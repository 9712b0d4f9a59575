// SPDX-License-Identifier: MIT
// sizes COUNT: that many allocations in a row, from 64 stacks of 7 frames, of 4,000 sizes, each block freed 1,000
// allocations later: like a program that reads messages. Prints nothing: it is a whole program, from start to end.
#include <cstdint>
#include <cstdlib>

namespace {

constexpr unsigned kWindow = 1000, kSizes = 4000;
constexpr int kForks = 6;  // places where a path branches
void* blocks[kWindow];

__attribute__((noinline)) void take(uint64_t number) {
  void*& place = blocks[number % kWindow];
  free(place);
  place = malloc(1 + number * 7919 % kSizes);
  if (place == nullptr) abort();
  *static_cast<volatile char*>(place) = 1;
}

template <int kLevel>
__attribute__((noinline)) void step(uint64_t number) {
  if constexpr (kLevel == 0) {
    take(number);
  } else if ((number >> (kLevel - 1) & 1) != 0) {
    step<kLevel - 1>(number);
    asm volatile("nop");  // two call sites
  } else {
    step<kLevel - 1>(number);
    asm volatile("");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 0;
  if (count < 1) return 2;
  for (long i = 0; i < count; ++i) step<kForks>(static_cast<uint64_t>(i) * 37);
  for (void* block : blocks) free(block);
}

// SPDX-License-Identifier: MIT
// Stacks of all kinds, and none: threads, coroutines, garbage registers. Nothing may fault.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <random>

#include "support.h"

#if defined(__SANITIZE_ADDRESS__)
#define PENNA_TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PENNA_TEST_ASAN 1
#endif
#endif
#ifndef PENNA_TEST_ASAN
#define PENNA_TEST_ASAN 0
#endif

namespace penna::unwind {
namespace {

struct Seen {
  Unwinder unwinder;
  WalkResult result;
  std::vector<uintptr_t> ours, reference;
  uintptr_t sp = 0;
};

[[gnu::noinline]] void look(Seen& seen) {
  const Registers start = caller_registers();
  seen.sp = start.sp;
  seen.result = seen.unwinder.walk(start);
  seen.ours = seen.unwinder.tree.stack(seen.result.node);
  seen.reference = reference_stack();
}

[[gnu::noinline]] void go_deep(int depth, Seen& seen) {
  char bytes[10000];
  asm volatile("" : : "r"(bytes) : "memory");
  if (depth > 0)
    go_deep(depth - 1, seen);
  else
    look(seen);
  asm volatile("");
}

void run_in_thread(size_t stack_size, void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_size);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, body, argument), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Stack, ThreadsWithSmallAndLargeStacks) {
  for (size_t size : {size_t{64} << 10, size_t{1} << 20, size_t{8} << 20, size_t{64} << 20}) {
    for (int depth : {0, static_cast<int>((size - (48 << 10)) / 12000)}) {
      if (depth > 200) depth = 200;
      struct Args {
        Seen seen;
        int depth;
      } args{{}, depth};
      run_in_thread(
          size,
          [](void* raw) -> void* {
            auto* a = static_cast<Args*>(raw);
            look(a->seen);  // from above first, so that the range must grow downwards then
            go_deep(a->depth, a->seen);
            return nullptr;
          },
          &args);
      EXPECT_EQ(args.seen.result.end, End::complete) << size << " " << depth;
      EXPECT_EQ(args.seen.ours, args.seen.reference) << describe(args.seen.ours) << "\n"
                                                     << describe(args.seen.reference);
    }
  }
}

TEST(Stack, FirstWalkDeepInAThread) {
  Seen seen;
  run_in_thread(
      8 << 20,
      [](void* raw) -> void* {
        go_deep(200, *static_cast<Seen*>(raw));
        return nullptr;
      },
      &seen);
  EXPECT_EQ(seen.result.end, End::complete);
  EXPECT_EQ(seen.ours, seen.reference);
}

// Coroutines on mapped stacks with guard pages on both ends; the memory is reused for the next one, smaller.
struct Coroutine {
  ucontext_t back, self;
  Seen* seen;
  int depth;
};
Coroutine* current;

void coroutine_body() {
  go_deep(current->depth, *current->seen);
  swapcontext(&current->self, &current->back);
}

void run_coroutine(void* stack, size_t size, Seen& seen, int depth) {
  Coroutine coroutine;
  current = &coroutine;
  coroutine.seen = &seen;
  coroutine.depth = depth;
  getcontext(&coroutine.self);
  coroutine.self.uc_stack.ss_sp = stack;
  coroutine.self.uc_stack.ss_size = size;
  coroutine.self.uc_link = nullptr;
  makecontext(&coroutine.self, coroutine_body, 0);
  swapcontext(&coroutine.back, &coroutine.self);
  current = nullptr;
}

TEST(Stack, CoroutinesOnReusedMemory) {
  constexpr size_t kPage = 4096, kSize = 64 * kPage;
  auto* base = static_cast<char*>(mmap(nullptr, kSize + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Seen seen;
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const size_t size = (20 + random() % 44) * kPage;
    ASSERT_EQ(mmap(base + kPage, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              base + kPage);
    run_coroutine(base + kPage, size, seen, static_cast<int>(random() % 4));
    EXPECT_EQ(seen.sp - reinterpret_cast<uintptr_t>(base) < kSize, true);
    EXPECT_EQ(seen.result.end, End::complete);
    EXPECT_EQ(seen.ours, seen.reference) << describe(seen.ours) << "\n" << describe(seen.reference);
    ASSERT_EQ(mmap(base + kPage, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), base + kPage);
    if (round % 3 == 0) {
      look(seen);  // on the thread's own stack in between
      EXPECT_EQ(seen.result.end, End::complete);
      EXPECT_EQ(seen.ours, seen.reference);
    }
  }
  munmap(base, kSize + 2 * kPage);
}

TEST(Stack, MapFindsOnlyReadableMemory) {
  StackMap map;
  const auto sp = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));  // locals may lie in a sanitizer's own stack
  const StackRange own = map.find(sp);
  EXPECT_TRUE(own.contains(sp));
  EXPECT_TRUE(map.is_own(own));
  for (uintptr_t garbage :
       {uintptr_t{0}, uintptr_t{8}, uintptr_t{4096}, ~uintptr_t{7}, uintptr_t{1} << 47, uintptr_t{1} << 63}) {
    const StackRange range = map.find(garbage);
    EXPECT_FALSE(range.contains(garbage)) << garbage;
  }
  constexpr size_t kPage = 4096;
  auto* memory = static_cast<char*>(mmap(nullptr, 5 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + kPage, 3 * kPage, PROT_READ | PROT_WRITE);
  const auto low = reinterpret_cast<uintptr_t>(memory);
  StackRange other = map.find(low + kPage + 64);
  EXPECT_EQ(other.low, low + kPage);
  EXPECT_EQ(other.high, low + 2 * kPage);
  EXPECT_FALSE(map.is_own(other));
  EXPECT_TRUE(map.reach(other, low + 3 * kPage));
  EXPECT_FALSE(map.reach(other, low + 4 * kPage + 8));
  EXPECT_EQ(other.high, low + 4 * kPage);
  EXPECT_FALSE(map.find(low).contains(low));
  EXPECT_TRUE(map.begin_walk(sp).contains(sp));
  munmap(memory, 5 * kPage);
}

// The main thread's control block lies in a mapping as any other, not on top of its stack: below may be a coroutine's stack, which goes
// before the thread does.
TEST(Stack, BelowTheMainControlBlockIsNoStack) {
  StackMap map;
  const uintptr_t below = thread_pointer() - 64;
  const StackRange range = map.find(below);
  EXPECT_TRUE(range.contains(below));
  EXPECT_FALSE(map.is_own(range));
  char here = 0;
  EXPECT_TRUE(map.is_own(map.find(reinterpret_cast<uintptr_t>(&here))));
}

// Registers as a crash leaves them: any pc of any module, any stack pointer, any frame pointer.
TEST(Stack, GarbageRegistersNeverFault) {
  if (PENNA_TEST_ASAN) GTEST_SKIP() << "uses heap memory and red zones as stacks, which AddressSanitizer reports";
  Unwinder unwinder;
  std::mt19937_64 random(9);
  std::vector<uintptr_t> code = {reinterpret_cast<uintptr_t>(&malloc), reinterpret_cast<uintptr_t>(&qsort),
                                 reinterpret_cast<uintptr_t>(&printf), reinterpret_cast<uintptr_t>(&look)};
  std::vector<uintptr_t> page(512);
  for (uintptr_t& word : page)
    word = random() % 3 ? code[random() % 4] + random() % 4096 : reinterpret_cast<uintptr_t>(&page[random() % 512]);
  char here = 0;
  const auto sp = reinterpret_cast<uintptr_t>(&here) & ~uintptr_t{7};
  const auto pick = [&]() -> uintptr_t {
    switch (random() % 6) {
      case 0: return sp + random() % 4096 * 8;
      case 1: return reinterpret_cast<uintptr_t>(&page[random() % 512]);
      case 2: return random() % (uintptr_t{1} << 47);
      case 3: return random();
      case 4: return sp - random() % 100000;
      default: return code[random() % 4] + random() % 100000;
    }
  };
  size_t frames = 0;
  for (int i = 0; i < 200'000; ++i) {
    const uintptr_t pc = random() % 8 ? code[random() % 4] - 5000 + random() % 200000 : pick();
    frames += unwinder.walk({pc, pick(), pick(), random() % 2 == 0}).depth;
  }
  EXPECT_GT(frames, 100'000U);
}

}  // namespace
}  // namespace penna::unwind

// SPDX-License-Identifier: MIT
// Walks that end early: depth limit, code without CFI, generated code, a full tree. Truncated, with a reason, never
// wrong.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "support.h"

extern "C" {
void penna_test_no_cfi(void (*)(void*), void*);
void penna_test_no_cfi_frame(void (*)(void*), void*);
void penna_test_no_cfi_compares(void (*)(void*), void*);
void penna_test_no_cfi_frame_and_address(void (*)(void*), void*);
void penna_test_no_cfi_garbage(void (*)(void*), void*);
}

namespace penna::unwind {
namespace {

struct Seen {
  Unwinder unwinder;
  WalkResult result, fresh_result;
  std::vector<uintptr_t> ours, fresh, reference;
};

[[gnu::noinline]] void look(Seen& seen) {
  const Registers start = caller_registers();
  seen.result = seen.unwinder.walk(start);
  seen.fresh_result = seen.unwinder.walk_without_memory(start);
  seen.ours = seen.unwinder.tree.stack(seen.result.node);
  seen.fresh = seen.unwinder.tree.stack(seen.fresh_result.node);
  seen.reference = reference_stack();
}

bool is_prefix(const std::vector<uintptr_t>& shorter, const std::vector<uintptr_t>& longer) {
  return shorter.size() <= longer.size() && std::equal(shorter.begin(), shorter.end(), longer.begin());
}

template <typename Visit>
[[gnu::noinline]] void recurse(int depth, Visit& visit) {
  visit(depth);
  if (depth > 0) recurse(depth - 1, visit);
  visit(depth);
  asm volatile("");
}

TEST(Limits, DeepRecursionUpAndDown) {
  Seen seen;
  seen.unwinder.walker.options.max_depth = 32;
  const auto check = [&] {
    look(seen);
    const size_t true_depth = seen.reference.size();
    ASSERT_TRUE(is_prefix(seen.ours, seen.reference)) << describe(seen.ours) << "\n" << describe(seen.reference);
    ASSERT_EQ(seen.ours.size(), seen.result.depth);
    if (true_depth <= 32) {
      ASSERT_EQ(seen.result.end, End::complete);
    }
    ASSERT_EQ(seen.result.end == End::complete, seen.ours.size() == true_depth);
    ASSERT_TRUE(seen.result.end == End::complete || seen.result.end == End::depth_limit);
    ASSERT_GE(seen.ours.size(), std::min<size_t>(true_depth, 32));
    ASSERT_LE(seen.fresh.size(), 64U);
  };
  auto visit = [&](int) {
    if (!testing::Test::HasFatalFailure()) check();
  };
  recurse(300, visit);
}

TEST(Limits, DefaultDepthOnDeepRecursion) {
  Seen seen;
  size_t truncated = 0, checked = 0;
  uint64_t fresh = 0;
  auto visit = [&](int depth) {
    if (depth % 100 > 9 || testing::Test::HasFatalFailure()) return;
    look(seen);
    ++checked;
    fresh += seen.result.fresh;
    truncated += seen.result.end == End::depth_limit;
    ASSERT_TRUE(is_prefix(seen.ours, seen.reference));
    ASSERT_GE(seen.ours.size(), std::min<size_t>(seen.reference.size(), 256));
    if (seen.reference.size() <= 256) {
      ASSERT_EQ(seen.result.end, End::complete);
    }
  };
  recurse(1500, visit);
  EXPECT_GT(truncated, 100U);
  EXPECT_LT(fresh, checked * 150) << "a deep recursion is walked from scratch every time";
}

TEST(Limits, OptionsOutOfBoundsAreCut) {
  for (uint16_t depth : {uint16_t{0}, uint16_t{65535}}) {
    Seen seen;
    seen.unwinder.walker.options.max_depth = depth;
    auto visit = [&](int at) {
      if (at == 0) look(seen);
    };
    recurse(1200, visit);
    EXPECT_EQ(seen.result.end, End::depth_limit);
    EXPECT_TRUE(is_prefix(seen.ours, seen.reference));
    EXPECT_EQ(seen.ours.size(), depth == 0 ? 1U : ThreadMemory::kMaxFresh);
  }
}

TEST(Limits, TruncationIsMarkedInTheTree) {
  Seen seen;
  seen.unwinder.walker.options.max_depth = 8;
  seen.unwinder.walker.options.mark_truncation = true;
  auto visit = [&](int depth) {
    if (depth == 0) look(seen);
  };
  recurse(100, visit);
  ASSERT_EQ(seen.result.end, End::depth_limit);
  EXPECT_EQ(seen.ours.size(), seen.result.depth + 1);
  EXPECT_EQ(seen.ours.back(), static_cast<uintptr_t>(End::depth_limit));
  look(seen);
  EXPECT_NE(seen.ours.back(), static_cast<uintptr_t>(End::depth_limit))
      << "a complete stack must not end in the marker";
}

[[gnu::noinline]] void look_from_callback(void* seen) {
  look(*static_cast<Seen*>(seen));
  asm volatile("");
}

// What the stack must look like: the callback, the function without CFI, then `caller`'s frames.
struct Expectation {
  std::vector<uintptr_t> outer;  // of the function that calls the assembly
};

// Both callers keep frame pointers (see CMakeLists.txt): the temptation to step over them.
[[gnu::noinline]] void call_with_frame_pointer(void (*function)(void (*)(void*), void*), Seen& seen,
                                               Expectation& expected) {
  look(seen);
  expected.outer.assign(seen.ours.begin() + 1, seen.ours.end());
  function(look_from_callback, &seen);
  asm volatile("");
}
[[gnu::noinline]] void call_directly(bool frame, Seen& seen, Expectation& expected) {
  look(seen);
  expected.outer.assign(seen.ours.begin() + 1, seen.ours.end());
  frame ? penna_test_no_cfi_frame(look_from_callback, &seen) : penna_test_no_cfi(look_from_callback, &seen);
  asm volatile("");
}

bool inside(uintptr_t pc, void (*function)(void (*)(void*), void*)) {
  const auto start = reinterpret_cast<uintptr_t>(function);
  return pc > start && pc < start + 64;
}

TEST(Limits, AssemblyWithoutCfiTruncates) {
  for (auto function : {penna_test_no_cfi, penna_test_no_cfi_garbage}) {
    Seen seen;
    Expectation expected;
    call_with_frame_pointer(function, seen, expected);
    ASSERT_EQ(seen.ours.size(), 2U) << describe(seen.ours);
    EXPECT_TRUE(inside(seen.ours[1], function));
    EXPECT_EQ(seen.result.end, End::no_rule);
    EXPECT_EQ(seen.result.guessed, 0);
    EXPECT_EQ(seen.ours, seen.fresh);
  }
  Seen seen;
  Expectation expected;
  call_directly(false, seen, expected);
  EXPECT_EQ(seen.ours.size(), 2U) << "a frame is missing:\n" << describe(seen.ours);
  EXPECT_EQ(seen.result.end, End::no_rule);
}

TEST(Limits, AssemblyWithFramePointerIsStepped) {
  Seen seen;
  Expectation expected;
  call_directly(true, seen, expected);
  ASSERT_EQ(seen.result.end, End::complete) << describe(seen.ours);
  EXPECT_EQ(seen.result.guessed, 1);
  ASSERT_EQ(seen.ours.size(), expected.outer.size() + 3);
  EXPECT_TRUE(inside(seen.ours[1], penna_test_no_cfi_frame));
  EXPECT_TRUE(std::equal(expected.outer.begin(), expected.outer.end(), seen.ours.begin() + 3));
  EXPECT_EQ(seen.ours, seen.fresh);
}

// Called by way of a pointer: who keeps a frame has not left a return address below it.
TEST(Limits, FramePointerIsFollowedWhoeverCalls) {
  for (auto function : {penna_test_no_cfi_frame, penna_test_no_cfi_compares}) {
    Seen seen;
    Expectation expected;
    call_with_frame_pointer(function, seen, expected);
    ASSERT_EQ(seen.result.end, End::complete) << describe(seen.ours);
    EXPECT_EQ(seen.result.guessed, 1);
    ASSERT_EQ(seen.ours.size(), expected.outer.size() + 3);
    EXPECT_TRUE(inside(seen.ours[1], function));
    EXPECT_TRUE(std::equal(expected.outer.begin(), expected.outer.end(), seen.ours.begin() + 3));
    EXPECT_EQ(seen.ours, seen.fresh);
  }
}

// What lies below the frame may be the return address of one that keeps none: then nobody knows.
TEST(Limits, ReturnAddressBelowTheFrameTruncates) {
  Seen seen;
  Expectation expected;
  call_with_frame_pointer(penna_test_no_cfi_frame_and_address, seen, expected);
  EXPECT_EQ(seen.ours.size(), 2U) << describe(seen.ours);
  EXPECT_EQ(seen.result.end, End::no_rule);
}

// The same assembly on a page that belongs to no module, as a JIT compiler would place it. Not at its start: clang 17 and later with
// -fsanitize=undefined read the 8 bytes in front of a function before they call it.
struct Generated {
  static constexpr size_t kOffset = 64;
  explicit Generated(void (*function)(void (*)(void*), void*)) {
    page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(static_cast<char*>(page) + kOffset, reinterpret_cast<void*>(function), 64);
  }
  ~Generated() { munmap(page, 4096); }
  auto code() const { return reinterpret_cast<void (*)(void (*)(void*), void*)>(static_cast<char*>(page) + kOffset); }
  void* page;
};

TEST(Limits, GeneratedCodeWithFramePointerIsStepped) {
  Generated generated(penna_test_no_cfi_frame);
  Seen seen;
  Expectation expected;
  call_with_frame_pointer(generated.code(), seen, expected);
  ASSERT_EQ(seen.result.end, End::complete) << describe(seen.ours);
  EXPECT_EQ(seen.result.guessed, 1);
  ASSERT_EQ(seen.ours.size(), expected.outer.size() + 3);
  EXPECT_TRUE(std::equal(expected.outer.begin(), expected.outer.end(), seen.ours.begin() + 3));
}

TEST(Limits, GeneratedCodeWithoutFramePointerTruncates) {
  for (auto function : {penna_test_no_cfi, penna_test_no_cfi_garbage}) {
    Generated generated(function);
    Seen seen;
    Expectation expected;
    call_with_frame_pointer(generated.code(), seen, expected);
    EXPECT_EQ(seen.ours.size(), 2U) << "a frame is missing:\n" << describe(seen.ours);
    EXPECT_EQ(seen.result.end, End::no_rule);
  }
}

TEST(Limits, FullTreeGivesNoNodeAndRecovers) {
  Seen seen;
  seen.unwinder.tree.full = true;
  look(seen);
  EXPECT_EQ(seen.result.node, 0U);
  EXPECT_EQ(seen.result.end, End::tree_full);
  seen.unwinder.tree.full = false;
  look(seen);
  EXPECT_EQ(seen.result.end, End::complete);
  EXPECT_EQ(seen.ours, seen.reference);
}

}  // namespace
}  // namespace penna::unwind

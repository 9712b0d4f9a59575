// SPDX-License-Identifier: MIT
// The memory of the last stack: a walk with it must give the same as one without, whatever happened in between.
#include <alloca.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "shapes.h"
#include "support.h"

namespace penna::unwind {
namespace {

struct Tree {
  Unwinder unwinder;
  std::mt19937 random{42};
  const Shapes* builds = nullptr;
  size_t build_count = 0;
  size_t depth = 0, checks = 0, wanted = 0, failures = 0;
  uint64_t frames = 0, fresh = 0;
};

[[gnu::noinline]] void compare(Tree& tree) {
  const Registers start = caller_registers();
  const WalkResult with = tree.unwinder.walk(start);
  const WalkResult without = tree.unwinder.walk_without_memory(start);
  ++tree.checks;
  tree.frames += with.depth;
  tree.fresh += with.fresh;
  bool same = with.node == without.node && with.depth == without.depth && with.end == without.end;
  if (same && tree.checks % 97 == 0) same = tree.unwinder.tree.stack(with.node) == reference_stack();
  if (same || ++tree.failures > 3) return;
  ADD_FAILURE() << "check " << tree.checks << "\nwith memory:\n"
                << describe(tree.unwinder.tree.stack(with.node)) << "without:\n"
                << describe(tree.unwinder.tree.stack(without.node));
}

void grow(Chain& chain) {
  auto& tree = *static_cast<Tree*>(chain.context);
  ++tree.depth;
  compare(tree);
  for (size_t child = 0, children = tree.random() % 4; child < children; ++child) {
    if (tree.checks >= tree.wanted || tree.depth > 18) break;
    const Shapes& build = tree.builds[tree.random() % tree.build_count];
    build.first[tree.random() % build.count](chain);
    if (tree.random() % 3 == 0) compare(tree);
  }
  chain.sum += tree.random() % 8;
  --tree.depth;
}

TEST(Memory, RandomCallTrees) {
  Tree tree;
  tree.builds = penna_test_shapes(&tree.build_count);
  tree.wanted = 100'000;
  while (tree.checks < tree.wanted) {
    Chain chain{grow, &tree, tree.random() % 1000};
    grow(chain);
  }
  EXPECT_EQ(tree.failures, 0U);
  std::printf("%zu stacks, %.1f frames each, %.1f of them walked anew\n", tree.checks,
              static_cast<double>(tree.frames) / static_cast<double>(tree.checks),
              static_cast<double>(tree.fresh) / static_cast<double>(tree.checks));
  EXPECT_LT(tree.fresh * 2, tree.frames) << "hardly any frame came from the cache";
}

// Calls that are known before they are made; the last one compares.
struct Path {
  Tree* tree;
  std::vector<Shape> shapes;
  size_t at = 0;
};
void follow(Chain& chain) {
  auto& path = *static_cast<Path*>(chain.context);
  if (path.at == path.shapes.size()) {
    compare(*path.tree);
  } else {
    path.shapes[path.at++](chain);
    --path.at;
  }
  chain.sum += 1;
}
void follow_from_start(Path& path) {
  Chain chain{follow, &path};
  follow(chain);
}

// Only two shapes whose frames have the same size, below the same call site: the inner slots keep their addresses and
// values, an outer return address differs.
TEST(Memory, SameInnerSlotsDifferentOuterFrames) {
  Tree tree;
  tree.builds = penna_test_shapes(&tree.build_count);
  constexpr size_t kSmall = 1, kTwin = 2;  // small_locals and small_locals_twin
  Path path{&tree, {}};
  for (size_t build = 0; build < tree.build_count; ++build) {
    for (int round = 0; round < 256; ++round) {
      path.shapes.clear();
      for (int level = 0; level < 8; ++level)
        path.shapes.push_back(tree.builds[build].first[(round >> level) & 1 ? kSmall : kTwin]);
      follow_from_start(path);
    }
  }
  EXPECT_EQ(tree.failures, 0U);
  EXPECT_EQ(tree.checks, tree.build_count * 256);
}

// Paths by turns that share their outer part, so that few frames are new: what follows is what followed the last time.
std::vector<Path> paths_of_few_new_frames(Tree& tree, size_t count) {
  tree.builds = penna_test_shapes(&tree.build_count);
  const auto any_shape = [&] {
    const Shapes& build = tree.builds[tree.random() % tree.build_count];
    return build.first[tree.random() % build.count];
  };
  const std::vector<Shape> outer{any_shape(), any_shape(), any_shape()};
  std::vector<Path> paths;
  for (size_t i = 0; i < count; ++i) {
    paths.push_back({&tree, outer});
    for (size_t inner = 0; inner <= i % 3; ++inner) paths.back().shapes.push_back(any_shape());
  }
  return paths;
}

// By turns in no order: the same frames before, the same inner slots, and others follow.
TEST(Memory, FramesOfTheSameSizeFollowInAnyOrder) {
  Tree tree;
  tree.builds = penna_test_shapes(&tree.build_count);
  constexpr size_t kSmall = 1, kTwin = 2;  // as above
  for (size_t build = 0; build < tree.build_count; ++build) {
    const Shape* const shapes = tree.builds[build].first;
    for (int round = 0; round < 400; ++round) {
      const auto which = tree.random();
      Path path{&tree, {shapes[which & 1 ? kSmall : kTwin], shapes[which & 2 ? kSmall : kTwin]}};
      follow_from_start(path);
    }
  }
  EXPECT_EQ(tree.failures, 0U);
}

// But now and then another one comes, or one whose outer or inner part is that of another, from the same call site.
TEST(Memory, WhatFollowedTheLastTimeIsNotBelieved) {
  constexpr size_t kPaths = 24, kRounds = 400;
  Tree tree;
  std::vector<Path> paths = paths_of_few_new_frames(tree, kPaths);
  for (size_t round = 0; round < kRounds; ++round) {
    for (Path& path : paths) {
      follow_from_start(path);
      if (tree.random() % 16 != 0) continue;
      Path other = paths[tree.random() % kPaths];
      const Path& another = paths[tree.random() % kPaths];
      other.shapes[tree.random() % other.shapes.size()] = another.shapes[tree.random() % another.shapes.size()];
      follow_from_start(other);
    }
  }
  EXPECT_EQ(tree.failures, 0U);
  EXPECT_GT(tree.checks, kPaths * kRounds);
}

// In a forked child: the tree is another one, the stack is not. Numbers that it gives again are those of other frames.
TEST(Memory, WhatIsForgottenIsNotBelieved) {
  Tree tree;
  std::vector<Path> paths = paths_of_few_new_frames(tree, 8);
  for (size_t round = 0; round < 60; ++round) {
    const bool forgets =
        round % 20 == 10;  // then the first one comes first, as ever, and the others the other way round
    if (forgets) {
      tree.unwinder.memory->forget();
      tree.unwinder.tree = {};
    }
    for (size_t i = 0; i < paths.size(); ++i) follow_from_start(paths[forgets ? (paths.size() - i) % paths.size() : i]);
  }
  EXPECT_EQ(tree.failures, 0U);
}

[[gnu::noinline]] WalkResult walk_here(Unwinder& unwinder) { return unwinder.walk(caller_registers()); }

// The trap of design 4.6: frames that count from rbp. Two outer functions reach the same inner slots with different
// frame pointers, and the return address of the first call still lies untouched inside the alloca of the second.
struct Stale {
  Unwinder unwinder;
  WalkResult with, without;
  uintptr_t inner_frame = 0;
  uintptr_t slot = 0;  // where with_alloca()'s return address lies
  uintptr_t slot_value = 0;
  bool through_a_frame = false;
  bool from_a_third = false;  // another walk comes before; what lies in that slot is written again then
  volatile size_t zero = 0;
  uintptr_t stale_value = 0;  // what the slot of the call before holds now
};

[[gnu::noinline]] void look(Stale& stale) {
  const Registers start = caller_registers();
  stale.inner_frame = start.sp;
  stale.with = stale.unwinder.walk(start);
  stale.without = stale.unwinder.walk_without_memory(start);
}
// Has a frame pointer of its own, which is the same in both calls, and keeps the caller's in memory.
[[gnu::noinline]] void look_through_a_frame(Stale& stale) {
  void* bytes = alloca(16 + stale.zero);
  asm volatile("" : : "r"(bytes) : "memory");
  look(stale);
  asm volatile("");
}
[[gnu::noinline]] void with_alloca(Stale& stale, size_t size) {
  void* bytes = alloca(size);
  asm volatile("" : : "r"(bytes) : "memory");
  if (stale.slot != 0) stale.stale_value = *reinterpret_cast<uintptr_t*>(stale.slot);
  stale.slot = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) + 8;
  stale.slot_value = *reinterpret_cast<uintptr_t*>(stale.slot);
  stale.through_a_frame ? look_through_a_frame(stale) : look(stale);
  asm volatile("");
}
[[gnu::noinline]] void outer_first(Stale& stale, size_t size) {
  void* bytes = alloca(256);
  asm volatile("" : : "r"(bytes) : "memory");
  with_alloca(stale, size);
  asm volatile("");
}
[[gnu::noinline]] void outer_second(Stale& stale, size_t size) {
  void* bytes = alloca(1024);  // covers, untouched, the slot that outer_first's callee used
  asm volatile("" : : "r"(bytes) : "memory");
  if (stale.from_a_third) *reinterpret_cast<volatile uintptr_t*>(stale.slot) = stale.slot_value;
  with_alloca(stale, size);
  asm volatile("");
}
[[gnu::noinline]] void call_at_one_site(void (*outer)(Stale&, size_t), Stale& stale, size_t size) {
  if (stale.from_a_third) walk_here(stale.unwinder);
  outer(stale, size);
  asm volatile("");
}

// `from_a_third`: the stack before each is the same third one, and the first follows on it more than once.
void check_stale_return_address(bool through_a_frame, bool from_a_third = false) {
  Stale stale;
  stale.through_a_frame = through_a_frame;
  stale.from_a_third = from_a_third;
  constexpr size_t kSize = 4096;
  uintptr_t first_frame = 0, shift = 0, slot = 0, value = 0;
  std::vector<uintptr_t> first_stack;
  // Turns: 0 and 1 measure how far apart the inner frames are; 2 to 4 are remembered; 5 is the trap. One call site for all.
  volatile int turns = 6;
  for (int turn = 0; turn < turns; ++turn) {
    const bool first = turn != 1 && turn != 5;
    if (turn == 1) first_frame = stale.inner_frame;
    if (turn == 2) shift = first_frame - stale.inner_frame;
    if (turn == 5) {
      slot = stale.slot;
      value = stale.slot_value;
      first_stack = stale.unwinder.tree.stack(stale.with.node);
    }
    call_at_one_site(first ? outer_first : outer_second, stale, turn == 5 ? kSize - shift : kSize);
  }
  ASSERT_LT(shift, kSize);
  ASSERT_EQ(stale.inner_frame, first_frame) << "test setup: the inner frames differ";
  ASSERT_NE(stale.slot, slot);
  ASSERT_EQ(stale.stale_value, value) << "test setup: the stale slot was overwritten";
  EXPECT_EQ(stale.with.node, stale.without.node);
  EXPECT_NE(stale.unwinder.tree.stack(stale.with.node), first_stack);
}

TEST(Memory, StaleReturnAddressFramePointerInRegister) { check_stale_return_address(false); }
TEST(Memory, StaleReturnAddressFramePointerInMemory) { check_stale_return_address(true); }
TEST(Memory, StaleReturnAddressOfWhatFollowedTheLastTime) { check_stale_return_address(false, true); }
TEST(Memory, StaleReturnAddressOfAFrameThatFollowedTheLastTime) { check_stale_return_address(true, true); }

// Of two walks from one call site; its stack pointer is so many bytes further in.
[[gnu::noinline]] WalkResult walk_twice(Unwinder& unwinder, size_t further) {
  volatile char* const space = static_cast<volatile char*>(alloca(further + 1));
  space[0] = 0;
  WalkResult result;
  volatile int turns = 2;
  for (int i = 0; i < turns; ++i) result = walk_here(unwinder);
  return result;
}

TEST(Memory, WhereverTheStackPointerLiesInItsPage) {
  for (size_t further = 0; further < 4096; further += 16) {
    Unwinder unwinder;
    EXPECT_EQ(walk_twice(unwinder, further).fresh, 0U) << further << " bytes deeper";
  }
}

TEST(Memory, TheSameStackAgainIsNotInternedAgain) {
  Unwinder unwinder;
  WalkResult first, second;
  size_t interned = 0;
  volatile int turns = 2;  // one call site: the loop is not unrolled
  for (int i = 0; i < turns; ++i) {
    first = second;
    interned = unwinder.tree.interned;
    second = walk_here(unwinder);
  }
  EXPECT_EQ(first.fresh, first.depth);
  EXPECT_EQ(second.fresh, 0U);
  EXPECT_EQ(first.node, second.node);
  EXPECT_EQ(first.depth, second.depth);
  EXPECT_EQ(unwinder.tree.interned, interned);
  EXPECT_GT(unwinder.tree.new_pcs, 0U);
}

[[gnu::noinline]] WalkResult walk_deeper(Unwinder& unwinder, int frames) {
  const WalkResult result = frames == 0 ? walk_here(unwinder) : walk_deeper(unwinder, frames - 1);
  asm volatile("");
  return result;
}

TEST(Memory, APathThatWasWalkedBeforeIsNotInternedAgain) {
  Unwinder unwinder;
  uint32_t nodes[3] = {};
  volatile int turns = 12;
  for (int turn = 0; turn < turns; ++turn) {
    const size_t interned = unwinder.tree.interned;
    const WalkResult result = walk_deeper(unwinder, 4 + turn % 3);
    if (turn < 3) {
      nodes[turn] = result.node;
    } else if (turn >= 6) {  // before, the known part was another one
      EXPECT_EQ(unwinder.tree.interned, interned) << turn;
    }
    EXPECT_EQ(result.node, nodes[turn % 3]) << turn;
    EXPECT_EQ(unwinder.tree.stack(result.node).size(), result.depth) << turn;
  }
}

// Return addresses that are replaced while a function runs, as a tracer of returns does it.
uintptr_t replaced[2];
constexpr uintptr_t kStandIns = 0x10000;  // no code is mapped there

[[gnu::noinline]] WalkResult walk_with_stand_in(Unwinder& unwinder, int which, bool replaces) {
  auto* slot = const_cast<uintptr_t*>(&HookFrame::here()->caller_pc);
  replaced[which] = *slot;
  if (replaces) *const_cast<volatile uintptr_t*>(slot) = kStandIns + 1 + static_cast<uintptr_t>(which);
  const WalkResult result = walk_deeper(unwinder, 2);
  *const_cast<volatile uintptr_t*>(slot) = replaced[which];
  asm volatile("");
  return result;
}
[[gnu::noinline]] WalkResult walk_with_two(Unwinder& unwinder, bool outer, bool inner) {
  auto* slot = const_cast<uintptr_t*>(&HookFrame::here()->caller_pc);
  replaced[0] = *slot;
  if (outer) *const_cast<volatile uintptr_t*>(slot) = kStandIns + 1;
  const WalkResult result = walk_with_stand_in(unwinder, 1, inner);
  *const_cast<volatile uintptr_t*>(slot) = replaced[0];
  asm volatile("");
  return result;
}

TEST(Memory, StandInsChangeNothing) {
  Unwinder unwinder;
  unwinder.walker.options.stand_ins = {kStandIns, 3, [](uintptr_t pc) { return replaced[pc - kStandIns - 1]; }};
  uint32_t node = 0;
  volatile int turns = 64;
  for (int turn = 0; turn < turns; ++turn) {
    const int how = turn * 7 % 16;
    const WalkResult result = walk_with_two(unwinder, (how & 1) != 0, (how & 2) != 0);
    if (turn == 0) node = result.node;
    EXPECT_EQ(result.end, End::complete) << turn;
    EXPECT_EQ(result.node, node) << turn;
    if ((how & 4) != 0) walk_here(unwinder);  // another stack in between
  }
}

// Walks from a frame whose return address is replaced by `outer`, if given.
[[gnu::noinline]] WalkResult walk_below(Unwinder& unwinder, std::optional<uintptr_t> outer) {
  auto* slot = const_cast<volatile uintptr_t*>(&HookFrame::here()->caller_pc);
  const uintptr_t real = *slot;
  *slot = outer.value_or(real);
  const WalkResult result = walk_here(unwinder);
  *slot = real;
  asm volatile("");
  return result;
}

// No frame has the return address that ended a walk as its pc. It is checked all the same: otherwise the next walk
// would report the old end, or miss the callers that are there now.
TEST(Memory, WalkEndsOnlyAtTheSameReturnAddress) {
  Unwinder unwinder;
  const struct {
    std::optional<uintptr_t> outer;
    End end;
    bool has_callers;
  } cases[] = {{0, End::complete, false}, {~uintptr_t{0}, End::bad_memory, false}, {{}, End::complete, true}};
  volatile int turns = 12;  // one call site: the same pc
  for (int turn = 0; turn < turns; ++turn) {
    const auto& now = cases[turn / 2 % 3];
    const WalkResult result = walk_below(unwinder, now.outer);
    EXPECT_EQ(result.end, now.end) << turn;
    EXPECT_EQ(result.depth > 1, now.has_callers) << turn;
    EXPECT_EQ(result.fresh == 0, turn % 2 == 1) << turn << ": only a repeated walk is cached";
  }
}

TEST(Memory, ClearedRulesAreComputedAndAnnouncedAgain) {
  Unwinder unwinder;
  for (int i = 0; i < 3; ++i) {
    const size_t before = unwinder.tree.new_pcs;
    const WalkResult result = walk_here(unwinder);
    EXPECT_EQ(result.fresh, result.depth) << i;
    EXPECT_GE(unwinder.tree.new_pcs - before, result.depth - 1) << i;
    unwinder.walker.cache.clear();
  }
}

}  // namespace
}  // namespace penna::unwind

// SPDX-License-Identifier: MIT
// Every frame shape of every build: our return addresses must equal libunwind's.
#include "shapes.h"

#include <gtest/gtest.h>

#include <random>

#include "support.h"

namespace penna::unwind {
namespace {

struct Script {
  Unwinder unwinder;
  std::vector<Shape> shapes;
  size_t position = 0;
  size_t checks = 0;
  std::string name;
};

[[gnu::noinline]] void check(Script& script) {
  const WalkResult result = script.unwinder.walk(caller_registers());
  const std::vector<uintptr_t> ours = script.unwinder.tree.stack(result.node);
  const std::vector<uintptr_t> theirs = reference_stack();
  ++script.checks;
  EXPECT_EQ(result.end, End::complete);
  EXPECT_EQ(result.depth, ours.size());
  EXPECT_EQ(result.guessed, 0);
  ASSERT_EQ(ours, theirs) << script.name << "\nours:\n" << describe(ours) << "theirs:\n" << describe(theirs);
}

void next(Chain& chain) {
  auto& script = *static_cast<Script*>(chain.context);
  if (script.position == script.shapes.size()) {
    check(script);
  } else {
    script.shapes[script.position++](chain);
    --script.position;
  }
  chain.sum += 1;
}

void run(Script& script) {
  Chain chain{next, &script};
  script.position = 0;
  next(chain);
}

TEST(Shapes, EachAlone) {
  size_t builds = 0;
  const Shapes* all = penna_test_shapes(&builds);
  Script script;
  for (size_t build = 0; build < builds; ++build) {
    for (size_t i = 0; i < all[build].count; ++i) {
      script.name = std::string(all[build].build) + " shape " + std::to_string(i);
      script.shapes = {all[build].first[i]};
      run(script);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(script.checks, builds * all[0].count);
}

TEST(Shapes, RandomSequences) {
  size_t builds = 0;
  const Shapes* all = penna_test_shapes(&builds);
  Script script;
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    script.shapes.clear();
    script.name = "round " + std::to_string(round) + ":";
    for (size_t i = 0, length = 1 + random() % 20; i < length; ++i) {
      const Shapes& shapes = all[random() % builds];
      const size_t shape = random() % shapes.count;
      script.shapes.push_back(shapes.first[shape]);
      script.name += " " + std::string(shapes.build) + "/" + std::to_string(shape);
    }
    run(script);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace penna::unwind

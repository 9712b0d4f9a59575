// SPDX-License-Identifier: MIT
// Stacks with a common beginning share that path; nodes that are too small are reported.
#include "view/answers/flame_tree.h"

#include <gmock/gmock.h>

#include "column_reader.h"

namespace penna::flame_tree_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void add(FlameTree& tree, std::vector<std::string_view> frames, uint64_t weight) { tree.add(frames, weight); }

TEST(FlameTree, ValuesHoldAllThatIsBelow) {
  NameIds ids;
  FlameTree tree(false);
  add(tree, {"main", "serve", "parse"}, 30);
  add(tree, {"main", "serve"}, 5);
  add(tree, {"main", "audit"}, 7);
  const std::vector<std::string_view> serve = {"main", "serve"};
  tree.add_count(serve, 3);
  const ColumnReader read(tree.answer("ns", ids));
  EXPECT_THAT(read.column<int32_t>("parent"), ElementsAre(-1, 0, 1, 0));
  EXPECT_THAT(read.column<double>("value"), ElementsAre(42, 35, 30, 7));
  EXPECT_THAT(read.column<double>("self"), ElementsAre(0, 5, 30, 7));
  EXPECT_THAT(read.column<double>("count"), ElementsAre(0, 3, 0, 0));
  EXPECT_EQ(ids.name(read.column<uint32_t>("name")[3]), "audit");
  EXPECT_THAT(read.header(), HasSubstr(R"("unit":"ns","total":42,"left_out":0)"));
}

TEST(FlameTree, ReversedBeginsAtTheInnermostFrame) {
  NameIds ids;
  FlameTree tree(true);
  add(tree, {"main", "serve", "parse"}, 30);
  add(tree, {"audit", "parse"}, 12);
  const std::string_view by_serve[] = {"main", "serve", "parse"}, by_audit[] = {"audit", "parse"};
  tree.add_count(by_serve, 4);
  tree.add_count(by_audit, 1);
  const ColumnReader read(tree.answer("ns", ids));
  EXPECT_THAT(read.column<double>("value"), ElementsAre(42, 30, 30, 12));
  EXPECT_THAT(read.column<double>("count"), ElementsAre(5, 4, 4, 1)) << "calls of parse on each way";
  EXPECT_EQ(ids.name(read.column<uint32_t>("name")[0]), "parse");
}

TEST(FlameTree, WhatIsTooSmallIsInItsParentAndTold) {
  NameIds ids;
  FlameTree tree(false);
  add(tree, {"main"}, 1'000'000);
  add(tree, {"main", "small"}, 100);
  add(tree, {"main", "small", "deeper"}, 50);
  add(tree, {"tiny"}, 1);
  const ColumnReader read(tree.answer("bytes", ids));
  EXPECT_THAT(read.column<double>("value"), ElementsAre(1'000'150));
  EXPECT_THAT(read.header(), HasSubstr(R"("total":1000151,"left_out":151)"));
}

TEST(FlameTree, NothingIsAnAnswer) {
  NameIds ids;
  FlameTree tree(false);
  EXPECT_THAT(ColumnReader(tree.answer("ns", ids)).column<double>("value"), ElementsAre());
}

TEST(FlameTree, AComparisonHasBothSides) {
  FlameTree tree(false);
  NameIds ids;
  const std::string_view both[] = {"main", "work"}, gone[] = {"main", "old"}, added[] = {"start"};
  tree.compare();
  tree.add_before(both, 30);
  tree.add_before(gone, 20);
  tree.add(both, 40);
  tree.add(added, 5);
  const ColumnReader answer(tree.answer("ns", ids));
  EXPECT_EQ(answer.column<double>("value"), (std::vector<double>{40, 40, 0, 5}));
  EXPECT_EQ(answer.column<double>("before"), (std::vector<double>{50, 30, 20, 0}));
  EXPECT_NE(answer.header().find(R"("total_before":50)"), std::string::npos);
}

}  // namespace
}  // namespace penna::flame_tree_test

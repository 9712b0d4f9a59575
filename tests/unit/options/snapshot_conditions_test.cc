// SPDX-License-Identifier: MIT
// --on: conditions as users write them.
#include "options/snapshot_conditions.h"

#include <gtest/gtest.h>

namespace penna::snapshot_conditions_test {
namespace {

using Kind = SnapshotCondition::Kind;

TEST(SnapshotConditions, EachKind) {
  const auto all = parse_snapshot_conditions(
      "wait > 100ms || wait(shop::ledger) > 1s||span(checkout)>1.5s || call(shop::pay(int, char)) > 1s || rss > +100MB "
      "|| "
      "rss > 2GB || live > 500MB || point(shop:order) || point(shop:order, rows > 1 || name ~ \"a||b)*\") || crash || "
      "end");
  ASSERT_TRUE(all) << all.error().text;
  ASSERT_EQ(all->size(), 11u);
  const auto& list = *all;
  EXPECT_EQ(list[0].kind, Kind::kWait);
  EXPECT_EQ(list[0].limit, 100'000'000u);
  EXPECT_EQ(list[1].pattern, "shop::ledger");
  EXPECT_EQ(list[2].limit, 1'500'000'000u);
  EXPECT_EQ(list[3].pattern, "shop::pay(int, char)");
  EXPECT_TRUE(list[4].is_growth);
  EXPECT_FALSE(list[5].is_growth);
  EXPECT_EQ(list[6].kind, Kind::kLive);
  EXPECT_EQ(list[7].pattern, "shop:order");
  EXPECT_FALSE(list[7].where);
  ASSERT_TRUE(list[8].where);
  EXPECT_EQ(list[8].where->text(), "rows > 1 || name ~ \"a||b)*\"");
  EXPECT_EQ(list[8].text, "point(shop:order, rows > 1 || name ~ \"a||b)*\")");
  EXPECT_EQ(list[9].kind, Kind::kCrash);
  EXPECT_EQ(list[10].kind, Kind::kEnd);
}

TEST(SnapshotConditions, Mistakes) {
  for (const char* wrong : {"",
                            "||",
                            "wait",
                            "wait >",
                            "wait > 0s",
                            "wait > -1s",
                            "wait < 1s",
                            "wait > fast",
                            "wait() > 1s",
                            "wait(a > 1s",
                            "span > 1s",
                            "call() > 1s",
                            "rss(x) > 1GB",
                            "rss > +",
                            "crash > 1s",
                            "crash(x)",
                            "foo > 1s",
                            "point",
                            "point()",
                            "point(a:b) > 1s",
                            "point(a:b, )",
                            "wait > 1s ||",
                            "call(/[/) > 1s"})
    EXPECT_FALSE(parse_snapshot_conditions(wrong)) << wrong;
}

TEST(SnapshotConditions, WhatTheyNeed) {
  EXPECT_EQ(class_of((*parse_snapshot_conditions("wait > 1s"))[0]), PENNA_LOCKS);
  EXPECT_EQ(class_of((*parse_snapshot_conditions("live > 1MB"))[0]), PENNA_ALLOC);
  EXPECT_EQ(class_of((*parse_snapshot_conditions("crash"))[0]), PENNA_NO_CLASS);
}

}  // namespace
}  // namespace penna::snapshot_conditions_test

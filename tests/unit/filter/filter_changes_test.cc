// SPDX-License-Identifier: MIT
// FilterChanges: filters hold from their time on; CallSieve keeps calls whole, PointSelection spans.
#include "filter/filter_changes.h"

#include <gtest/gtest.h>

#include "filter/call_sieve.h"
#include "filter/point_selection.h"
#include "recording/chunk_builder.h"

namespace penna::filter_changes_test {
namespace {

constexpr uint64_t kStart = 1'000'000, kSet = kStart + 100, kRemoved = kStart + 200;
constexpr uint64_t kOuter = 0x5555'0000'1000, kInner = 0x5555'0000'2000;

FilterChanges::Conditions conditions(const char* text = nullptr) {
  auto all = std::make_shared<std::vector<Where>>();
  if (text != nullptr) all->push_back(*Where::parse(text));
  return all;
}
ChosenFunctions without(uint64_t function) {
  return {[function](uint32_t, uint64_t pc, uint64_t) { return ChosenFunctions::Answer{pc != function}; }, {}};
}

TEST(FilterChanges, EachHoldsFromItsTimeOn) {
  FilterChanges changes;
  EXPECT_FALSE(changes.any());
  EXPECT_EQ(changes.conditions(kStart), nullptr);
  changes.add(kSet, conditions("rows > 1"), {});
  changes.add(kRemoved, conditions(), without(kInner));
  EXPECT_TRUE(changes.has_conditions());
  EXPECT_TRUE(changes.has_functions());
  EXPECT_EQ(changes.number(kSet - 1), 0u);
  EXPECT_EQ(changes.number(kSet), 1u);
  EXPECT_EQ(changes.conditions(kSet)->size(), 1u);
  EXPECT_TRUE(changes.function(0, kInner, kSet).chosen);
  EXPECT_EQ(changes.number(kRemoved), 2u);
  EXPECT_TRUE(changes.conditions(kRemoved)->empty());
  EXPECT_FALSE(changes.function(0, kInner, kRemoved).chosen);
}

TEST(FilterChanges, OldOnesAreForgotten) {
  FilterChanges changes;
  for (uint64_t i = 1; i <= 100; ++i) changes.add(kStart + i, conditions(), without(i));
  EXPECT_EQ(changes.number(kStart + 100), 100u);
  EXPECT_GT(changes.number(kStart), 1u) << "the oldest that is kept holds for what was before";
  EXPECT_FALSE(changes.function(0, 100, kStart + 200).chosen);
}

TEST(FilterChanges, ACallIsLeftOutWithItsExit) {
  auto changes = std::make_shared<FilterChanges>();
  changes->add(kSet, conditions(), without(kInner));
  changes->add(kRemoved, conditions(), {});
  CallRules rules;
  rules.changes = changes;
  CallSieve sieve(rules, 0, true);
  ChunkBuilder builder(kStart, 1, 0);
  builder.entry(kInner, kSet - 10).entry(kOuter, kSet + 1).entry(kInner, kSet + 2).exit(kInner, kSet + 3);
  builder.exit(kOuter, kSet + 4).exit(kInner, kSet + 5);           // as it began before
  builder.exit(kInner, kSet + 6).entry(kInner, kRemoved - 1);      // one that was open before the first chunk; one that
  builder.exit(kInner, kRemoved + 1).entry(kInner, kRemoved + 2);  // goes on when the filter has been removed
  const std::vector<uint8_t> chunk = builder.close();
  sieve.add(chunk);
  const ChunkCut cut = sieve.take().cut;
  std::vector<uint64_t> times;
  RecordCursor in(chunk);
  Record record;
  while (in.next(record))
    if (!cut.leaves_out(static_cast<size_t>(record.payload - chunk.data()) - sizeof(uint64_t)))
      times.push_back(record.time);
  EXPECT_EQ(times, (std::vector<uint64_t>{kSet - 10, kSet + 1, kSet + 4, kSet + 5, kSet + 6, kRemoved + 2}));
  EXPECT_EQ(sieve.calls_left_out(), 2u);
}

struct PassedPoint {
  penna_point point;
  uint64_t rows;
};

// The times of the points of one thread that are kept; a site 2 ends spans that site 1 begins.
struct Points {
  std::shared_ptr<FilterChanges> changes = std::make_shared<FilterChanges>();
  PointSelection selection{conditions()};
  ChunkBuilder chunk{kStart};
  Points() {
    selection.set_changes(changes);
    for (const uint32_t id : {1u, 2u}) {
      Site site;
      site.id = id;
      site.provider = "shop";
      site.name = "order";
      site.kind = id == 1 ? PENNA_SITE_SPAN : PENNA_SITE_SPAN_END;
      if (id == 1) site.arguments.push_back({PENNA_ARG_UINT, "rows"});
      selection.add(site);
    }
  }
  Points& begin(uint64_t time, uint64_t rows) {
    chunk.full(PENNA_KIND_POINT, time, PassedPoint{{1, 0}, rows});
    return *this;
  }
  Points& end(uint64_t time) {
    chunk.full(PENNA_KIND_POINT, time, penna_point{2, 0});
    return *this;
  }
  std::vector<uint64_t> kept() {
    const std::vector<uint8_t> bytes = chunk.close();
    std::vector<uint64_t> times;
    RecordCursor in(bytes);
    Record record;
    while (in.next(record))
      if (record.kind == PENNA_KIND_POINT && selection.keeps(1, record)) times.push_back(record.time);
    return times;
  }
};

TEST(FilterChanges, ASpanEndsAsItBegan) {
  Points points;
  points.changes->add(kSet, conditions("rows > 10"), {});
  points.changes->add(kRemoved, conditions(), {});
  points.begin(kSet - 5, 1).begin(kSet + 1, 1).begin(kSet + 2, 11).end(kSet + 3).end(kSet + 4).end(kSet + 5);
  // Of one name, one within the other: the outer one was left out.
  points.begin(kRemoved - 1, 1).begin(kRemoved + 1, 1).end(kRemoved + 2).end(kRemoved + 3);
  EXPECT_EQ(points.kept(), (std::vector<uint64_t>{kSet - 5, kSet + 2, kSet + 3, kSet + 5, kRemoved + 1, kRemoved + 2}));
}

}  // namespace
}  // namespace penna::filter_changes_test

// SPDX-License-Identifier: MIT
// Counters: sums are those of all steps, and no peak is missed.
#include "view/tracks/counters.h"

#include <gmock/gmock.h>

#include <numeric>

#include "column_reader.h"

namespace penna::counters_test {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr int64_t kLength = 1'000'000'000;

Counters counters() {
  return Counters(kLength, 2, [](uint64_t ticks) { return static_cast<int64_t>(ticks); });
}

TEST(Counters, SumsAreThoseOfTheRecordingAtEachZoom) {
  Counters all = counters();
  for (int64_t time = 0; time < kLength; time += 999'983) all.count(Counters::kCalls, time);
  all.count(Counters::kCalls, -5);           // before the first event
  all.count(Counters::kCalls, 2 * kLength);  // behind the last
  all.finish();
  for (const uint32_t pixels : {1u, 7u, 1000u, 10'000u}) {
    const auto calls = ColumnReader(all.answer({0, kLength, pixels})).column<double>("calls");
    EXPECT_LE(calls.size(), pixels);
    EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0.0), 1001 + 2) << pixels;
  }
}

TEST(Counters, APeakIsSeenHoweverShort) {
  Counters all = counters();
  all.on_live(0, 100'000'000, 500, 1);
  all.on_live(1, 200'000'000, 70, 1);
  all.on_live(0, 200'000'001, 9000, 2);
  all.on_live(0, 200'000'002, 0, 0);
  all.finish();
  EXPECT_THAT(ColumnReader(all.answer({0, kLength, 10})).column<double>("live_bytes"),
              ElementsAre(0, 500, 9070, 70, 70, 70, 70, 70, 70, 70));
  EXPECT_THAT(ColumnReader(all.answer({900'000'000, kLength, 3})).column<double>("live_bytes"), Each(70));
}

TEST(Counters, StepsAreJoinedWhenTheRecordingGrows) {
  Counters all = counters();
  all.count(Counters::kCalls, 1);
  all.on_live(0, 100'000'000, 500, 1);
  all.on_live(0, 100'000'001, 20, 1);
  all.finish();
  all.grow(5 * kLength);
  all.count(Counters::kCalls, 4 * kLength + kLength / 2);
  all.finish();
  const ColumnReader read(all.answer({0, 5 * kLength, 5}));
  EXPECT_THAT(read.column<double>("calls"), ElementsAre(1, 0, 0, 0, 1));
  EXPECT_THAT(read.column<double>("live_bytes"), ElementsAre(500, 20, 20, 20, 20));
}

TEST(Counters, AViewThatIsShorterThanAStepHasOneValue) {
  Counters all = counters();
  all.count(Counters::kWaits, 500);
  all.finish();
  EXPECT_THAT(ColumnReader(all.answer({400, 600, 1000})).column<double>("waits"), ElementsAre(1));
}

}  // namespace
}  // namespace penna::counters_test

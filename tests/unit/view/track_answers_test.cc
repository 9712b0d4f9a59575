// SPDX-License-Identifier: MIT
// At any zoom, each call is a slice or in a sum, and an answer is no larger than its pixels require.
#include "view/tracks/track_answers.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

#include "column_reader.h"

namespace penna::track_answers_test {
namespace {

using testing::Each;
using testing::ElementsAre;

void add(Slices& row, int64_t start, int64_t end, uint32_t name = 1) {
  row.start.push_back(start);
  row.end.push_back(end);
  row.name.push_back(name);
  row.flags.push_back(0);
}

double sum(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }
uint64_t sum(const std::vector<uint32_t>& all) { return std::accumulate(all.begin(), all.end(), uint64_t{0}); }

TEST(SlicesAnswer, EachCallIsASliceOrInASum) {
  std::mt19937 random(7);
  Track track;
  track.rows.resize(3);
  int64_t all = 0;
  for (Slices& row : track.rows)
    for (int64_t time = 0; time < 1'000'000;) {
      const auto up_to = [&](uint64_t most) { return static_cast<int64_t>(random() % most); };
      const int64_t begin = time + up_to(50), end = begin + up_to(up_to(10) == 0 ? 5000 : 30);
      add(row, begin, end, static_cast<uint32_t>(1 + random() % 3));
      all += end - begin;
      time = end;
    }
  const size_t calls = track.rows[0].size() + track.rows[1].size() + track.rows[2].size();
  finish_rows(track.rows);
  ASSERT_EQ(track.rows.size(), 3u);
  for (const uint32_t pixels : {1u, 10u, 333u, 10'000u}) {
    const ColumnReader read(slices_answer(track, {0, 1'010'000, pixels}, 4));
    const auto start = read.column<double>("start");
    EXPECT_EQ(start.size() + sum(read.column<uint32_t>("d_count")), calls) << pixels;
    EXPECT_EQ(sum(read.column<double>("duration")) + sum(read.column<double>("d_time")), static_cast<double>(all));
    EXPECT_LE(start.size(), 3 * (pixels + 1));
    EXPECT_LE(read.column<uint32_t>("d_px").size(), 3 * (pixels + 1));
    const double pixel = 1'010'000.0 / pixels;
    EXPECT_THAT(read.column<double>("duration"), Each(testing::Ge(pixel)));
  }
}

TEST(SlicesAnswer, ACallThatBeganBeforeTheViewIsInIt) {
  Track track;
  track.rows.resize(1);
  add(track.rows[0], 0, 1000, 5);
  add(track.rows[0], 1000, 1002, 6);
  add(track.rows[0], 2000, 3000, 7);
  finish_rows(track.rows);
  const ColumnReader read(slices_answer(track, {900, 2500, 16}, 8));
  EXPECT_THAT(read.column<double>("start"), ElementsAre(0, 2000));
  EXPECT_THAT(read.column<uint32_t>("name"), ElementsAre(5, 7));
  EXPECT_THAT(read.column<uint32_t>("d_px"), ElementsAre(1));
  EXPECT_THAT(read.column<uint32_t>("d_name"), ElementsAre(6));
  EXPECT_THAT(ColumnReader(slices_answer(track, {1500, 1600, 4}, 8)).column<double>("start"), ElementsAre());
}

TEST(SlicesAnswer, ASumTellsWhichFunctionTookMost) {
  Track track;
  track.rows.resize(1);
  add(track.rows[0], 10, 11, 3);
  add(track.rows[0], 20, 26, 4);
  add(track.rows[0], 30, 33, 3);
  add(track.rows[0], 40, 43, 3);
  finish_rows(track.rows);
  EXPECT_THAT(ColumnReader(slices_answer(track, {0, 1000, 1}, 5)).column<uint32_t>("d_name"), ElementsAre(3));
}

TEST(FinishRows, CallsOfSeveralStacksDoNotOverlap) {
  std::vector<Slices> rows(1);
  add(rows[0], 100, 200);
  add(rows[0], 0, 150);  // of another stack, which was left later
  add(rows[0], 150, 160);
  finish_rows(rows);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].start, ElementsAre(0, 150));
  EXPECT_THAT(rows[1].start, ElementsAre(100));
  EXPECT_THAT(rows[0].covered, ElementsAre(0, 150, 160));
}

TEST(WaitsAnswer, ShortWaitsOfOnePixelForOneLockAreOne) {
  Track track;
  for (int64_t i = 0; i < 100; ++i) track.waits.push_back({i * 2, i * 2 + 1, 9, 3, TrackWait::kLock});
  track.waits.push_back({500, 900, 9, -1, TrackWait::kJoin});
  track.holds.push_back({10, 12, 4});
  const ColumnReader read(waits_answer(track, {0, 1000, 10}, 10));
  EXPECT_EQ(sum(read.column<uint32_t>("count")), 101u);
  EXPECT_THAT(read.column<double>("start"), ElementsAre(0, 100, 500));
  EXPECT_THAT(read.column<int32_t>("holder"), ElementsAre(3, 3, -1));
  EXPECT_THAT(read.column<uint8_t>("kind"), ElementsAre(0, 0, 2));
  EXPECT_THAT(read.column<uint32_t>("h_lock"), ElementsAre(4));
}

TEST(PointsAnswer, NeighboursInAPixelAreOne) {
  Track track;
  track.points = {{5, 1, 11}, {6, 1, 12}, {7, 2, 13}, {500, 2, 14}, {1000, 2, 15}};
  const ColumnReader read(points_answer(track, {0, 1000, 10}, 20));
  EXPECT_THAT(read.column<double>("time"), ElementsAre(5, 500));
  EXPECT_THAT(read.column<uint32_t>("name"), ElementsAre(0, 2));
  EXPECT_THAT(read.column<uint32_t>("count"), ElementsAre(3, 1));
  EXPECT_THAT(read.column<uint32_t>("text"), ElementsAre(0, 14));
}

TEST(FindInstance, NextPreviousAndSlowest) {
  Track track;
  track.rows.resize(2);
  add(track.rows[0], 0, 100, 1);
  add(track.rows[1], 10, 20, 2);
  add(track.rows[1], 30, 90, 2);
  add(track.rows[0], 200, 210, 2);
  finish_rows(track.rows);
  EXPECT_EQ(find_instance(track, {2, {}, {}})->start, 30);
  EXPECT_EQ(find_instance(track, {2, {}, 30})->start, 200);
  EXPECT_EQ(find_instance(track, {2, 200, {}})->start, 30);
  EXPECT_EQ(find_instance(track, {2, {}, 30})->depth, 0u);
  EXPECT_FALSE(find_instance(track, {2, {}, 200}));
  EXPECT_FALSE(find_instance(track, {3, {}, {}}));
}

}  // namespace
}  // namespace penna::track_answers_test

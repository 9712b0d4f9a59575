// SPDX-License-Identifier: MIT
// The locks of two recordings side by side, word for word.
#include "report/locks/lock_diff.h"

#include <gtest/gtest.h>

#include "report_text.h"
#include "sample_recording.h"

namespace penna::lock_diff_test {
namespace {

LocksByName side(std::map<std::string, NamedLockSums> locks) {
  LocksByName side{std::move(locks), {}, 0};
  for (const auto& [name, sums] : side.locks) {
    side.count += name == "queue" ? 2 : 1;  // two have one name
    side.all.taken += sums.taken;
    side.all.contended += sums.contended;
    side.all.wait_ns += sums.wait_ns;
  }
  return side;
}

const LocksByName kBefore = side({{"queue", {400, 354, 354, 380'000'000, 60'000'000}},
                                  {"cache", {10, 1, 1, 1'000'000, 2'000'000}},
                                  {"gone", {1, 0, 0, 0, 100}}});
const LocksByName kAfter = side({{"queue", {8, 1, 1, 200'000, 1'000'000}},
                                 {"cache", {10, 1, 1, 1'005'000, 2'000'000}},
                                 {"added", {3, 2, 2, 5'000'000, 1000}}});

TEST(LockDiff, WhatChangedMostComesFirst) {
  EXPECT_EQ(report_text(lock_diff_report(kBefore, kAfter, {})),
            R"(A: 4 locks taken 411 times, 355 after waiting, 381 ms in all
B: 4 locks taken 21 times, 4 after waiting, 6.21 ms in all
1 lock taken as often in both, with waits that changed by at most 1.0 %

sorted by DELTA, the change of the time waited
WAITS A  WAITS B   WAIT A   WAIT B     DELTA     OF A   HOLD A   HOLD B  TAKEN A  TAKEN B  LOCK
    354        1   380 ms   200 us   -380 ms  -99.9 %  60.0 ms  1.00 ms      400        8  queue
      -        2        -  5.00 ms  +5.00 ms        -        -  1.00 us        -        3  added
      1        1  1.00 ms  1.00 ms  +5.00 us  +0.50 %  2.00 ms  2.00 ms       10       10  cache
      0        -     0 ns        -      0 ns        -   100 ns        -        1        -  gone
)");
}

TEST(LockDiff, NoiseIsWhatTheUserSays) {
  const auto quiet_rows = [](const QuietLimit& limit) {
    int quiet = 0;
    for (const TableRow& row : lock_diff_report(kBefore, kAfter, limit).tables[0].rows) quiet += row.is_quiet;
    return quiet;
  };
  EXPECT_EQ(quiet_rows({0, 0}), 0);
  EXPECT_EQ(quiet_rows({1, 0}), 1) << "as often, and waited for as long";
  EXPECT_EQ(quiet_rows({1, 10'000}), 2) << "by time, whatever else changed";
  EXPECT_EQ(quiet_rows({1, 10'000'000}), 3);
}

}  // namespace
}  // namespace penna::lock_diff_test

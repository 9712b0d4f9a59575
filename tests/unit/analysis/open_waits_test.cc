// SPDX-License-Identifier: MIT
// Waits and holds that are open when their process ends, while another goes on: every analysis counts to that end.
#include <gmock/gmock.h>

#include "../model/lock_events.h"
#include "analysis/analyses.h"
#include "model/locks/wait_rows.h"

namespace penna::open_waits_test {
namespace {

constexpr uint64_t kMutex = 0x5000, kSemaphore = ThreadBuilder::of_sync(PENNA_SYNC_SEMAPHORE, 0x6000);

class OpenWaitsTest : public testing::Test {
 protected:
  // 1 holds the mutex from 10 on, 2 waits for it from 20 on, and 3 for a semaphore from 40 on. Their process ends at
  // 100, the other one at 1000.
  OpenWaitsTest() {
    const uint32_t first = build_.process(100), second = build_.process(200);
    build_.thread(first, 1).enter(0x100, 5);
    lock_at(build_.thread(first, 1), kMutex, 1, 10);
    request(build_.thread(first, 2), kMutex, 2, 20, 1001);
    request(build_.thread(first, 3), kSemaphore, 3, 40);
    build_.thread(second, 1).enter(0x100, 900);
    build_.thread(second, 1).exit(0x100, 1000);
    build_.end({.number = first, .end_ticks = 100, .how = EndKind::kExec});
    recording_.emplace(build_.open());
    map_.emplace(*recording_);
    all_ = analyse(*recording_, summarize(*recording_), *map_,
                   {.classes = kLockEvents, .wait_chains = true, .wait_path = true, .held_calls = true}, nullptr);
  }

  RecordingBuilder build_;
  std::optional<Recording> recording_;
  std::optional<CodeMap> map_;
  Analyses all_;
};

TEST_F(OpenWaitsTest, WaitsAddUpToTheSame) {
  uint64_t stats = 0, rows = 0, history = 0;
  for (const LockStats& lock : all_.locks->all()) stats += lock.wait.sum();
  for_each_wait(*recording_, {}, [&](const WaitRow& row) { return rows += row.end - row.begin, true; });
  for (uint32_t thread = 0; thread < recording_->threads().size(); ++thread)
    for (const TimedWait& wait : all_.relations->history()->of(thread)) history += wait.end - wait.begin;
  EXPECT_EQ(stats, 140u);
  EXPECT_EQ(rows, 140u);
  EXPECT_EQ(all_.relations->chains()->wait_time(), 140u);
  EXPECT_EQ(history, 140u);
}

TEST_F(OpenWaitsTest, HoldsAddUpToTheSame) {
  uint64_t stats = 0, rows = 0, called = 0;
  for (const LockStats& lock : all_.locks->all()) stats += lock.hold.sum();
  for_each_hold(*recording_, {}, [&](const HoldRow& row) { return rows += row.end - row.begin, true; });
  for (uint32_t lock = 0; lock < all_.locks->all().size(); ++lock)
    for (const HeldCalls::Sum& sum : all_.held_calls->of(lock)) called += sum.time;
  EXPECT_EQ(stats, 90u);
  EXPECT_EQ(rows, 90u);
  EXPECT_EQ(called, 90u);
}

}  // namespace
}  // namespace penna::open_waits_test

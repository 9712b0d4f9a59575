// SPDX-License-Identifier: MIT
// Critical sections from recordings: every kind of lock, several threads and processes, losses, and random records.
#include "recorded_sections.h"

#include <gtest/gtest.h>

#include <random>

#include "feather-trace/sections_text.h"
#include "model/recording_builder.h"

namespace penna::recorded_sections_test {

constexpr uint64_t kMutex = 0xa0, kOther = 0xb0;
constexpr uint64_t address_of(uint64_t address, penna_sync sync) { return address | uint64_t{sync} << 56; }

struct Read {
  SectionsText text;
  RecordedSections found;
};
Read read(RecordingBuilder& build, SectionClock clock = SectionClock::kCycles) {
  const Recording recording = build.open();
  CriticalSections sections;
  const RecordedSections found = read_sections(recording, clock, sections);
  return {text_of(sections), found};
}

TEST(RecordedSections, OfAllWaysToTakeAMutex) {
  RecordingBuilder build;
  auto& t = build.thread(build.process(100), 1);
  t.lock(kMutex, 1000);
  t.unlock(kMutex, 2000);
  t.record(PENNA_KIND_LOCK_AT, 3000, penna_lock_at{kMutex, 5, 0});
  t.record(PENNA_KIND_UNLOCK_AT, 4000, penna_lock_at{kMutex, 5, 0});
  t.record(PENNA_KIND_LOCK_REQUEST, 4500, penna_lock_at{kMutex, 5, 1002});
  t.lock_wait(kMutex, 4500, 5000, 5, 1002);
  t.unlock(kMutex, 6000);
  t.lock_wait(kMutex, 6500, 7000, 5, 1002, PENNA_WAIT_OWNER_DIED);
  t.unlock(kMutex, 8000);
  t.busy(kMutex, 8100);
  t.lock_wait(kMutex, 8200, 8300, 5, 1002, PENNA_WAIT_TIMEOUT);
  t.lock_wait(kMutex, 8400, 8500, 5, 1002, PENNA_WAIT_ERROR);
  t.lock_wait(kMutex, 8600, 8700, 5, 1002, 77);
  const Read done = read(build);
  EXPECT_EQ(done.text.sections,
            "1000, 2000, 1000, 0, 1001\n"
            "3000, 4000, 1000, 0, 1001\n"
            "5000, 6000, 1000, 0, 1001\n"
            "7000, 8000, 1000, 0, 1001\n");
  EXPECT_EQ(done.text.counts.incomplete, 0u);
  EXPECT_EQ(done.found.filtered, 0u);
}

TEST(RecordedSections, AConditionWaitSplitsTheHold) {
  RecordingBuilder build;
  auto& t = build.thread(build.process(100), 1);
  t.lock(kMutex, 1000);
  t.unlock(kMutex, 2000);
  t.record(PENNA_KIND_LOCK_REQUEST, 2001, penna_lock_at{address_of(0xc0, PENNA_SYNC_CONDITION), 5, 0});
  t.cond_wait(kMutex, 0xc0, 2001, 5000, PENNA_WAIT_TIMEOUT);
  t.unlock(kMutex, 6000);
  EXPECT_EQ(read(build).text.sections, "1000, 2000, 1000, 0, 1001\n5000, 6000, 1000, 0, 1001\n");
}

TEST(RecordedSections, OfSeveralThreadsAndProcesses) {
  RecordingBuilder build;
  const uint32_t one = build.process(100), two = build.process(200);
  auto& a = build.thread(one, 1);
  auto& b = build.thread(one, 2);
  auto& c = build.thread(two, 1);  // the same address is another lock
  a.lock(kMutex, 1000);
  c.lock(kMutex, 1500);
  a.lock(kOther, 2000);
  a.unlock(kOther, 3000);
  a.unlock(kMutex, 4000);
  b.lock_wait(kMutex, 1200, 4100);
  b.unlock(kMutex, 5000);
  c.unlock(kMutex, 6000);
  EXPECT_EQ(read(build).text.sections,
            "1000, 4000, 3000, 0, 1001\n"
            "1500, 6000, 4500, 0, 2001\n"
            "2000, 3000, 1000, 1, 1001\n"
            "4100, 5000, 900, 0, 1002\n");
}

TEST(RecordedSections, OfRwlocksAndSpinlocksButNotOfWhatNobodyHolds) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  auto& b = build.thread(process, 2);
  a.lock(address_of(kMutex, PENNA_SYNC_READ), 1000);
  b.lock(address_of(kMutex, PENNA_SYNC_READ), 1100);
  a.unlock(address_of(kMutex, PENNA_SYNC_READ), 1200);
  b.unlock(address_of(kMutex, PENNA_SYNC_WRITE), 1300);  // the same object
  a.lock(address_of(kOther, PENNA_SYNC_SPIN), 2000);
  a.unlock(address_of(kOther, PENNA_SYNC_SPIN), 2100);
  for (penna_sync sync : {PENNA_SYNC_SEMAPHORE, PENNA_SYNC_ONCE}) {
    a.lock(address_of(0xd0, sync), 3000);
    b.unlock(address_of(0xd0, sync), 3001);
  }
  for (penna_sync sync : {PENNA_SYNC_BARRIER, PENNA_SYNC_JOIN, PENNA_SYNC_FUTEX})
    a.lock_wait(address_of(0xe0, sync), 4000, 4100);
  a.lock(0xf0 | uint64_t{200} << 56, 5000);  // of no kind that is known
  const Read done = read(build);
  EXPECT_EQ(done.text.sections,
            "1000, 1200, 200, 0, 1001\n"
            "1100, 1300, 200, 0, 1002\n"
            "2000, 2100, 100, 0, 1001\n");
  EXPECT_EQ(done.found.filtered, 5u);
  EXPECT_EQ(done.text.counts.incomplete, 0u);
}

TEST(RecordedSections, AreNotPairedAcrossALoss) {
  RecordingBuilder build;
  auto& t = build.thread(build.process(100), 1);
  t.lock(kMutex, 1000);
  t.record(PENNA_KIND_LOST, 2000, penna_lost{{9, 9, 0, 9}});  // no locks
  t.unlock(kMutex, 3000);
  t.lock(kMutex, 4000);
  t.record(PENNA_KIND_LOST, 5000, penna_lost{{0, 0, 1, 0}});
  t.unlock(kMutex, 6000);
  const Read done = read(build);
  EXPECT_EQ(done.text.sections, "1000, 3000, 2000, 0, 1001\n");
  EXPECT_EQ(done.text.counts.incomplete, 2u);
}

// Somebody sets the clock back by a second while a lock is held.
TEST(RecordedSections, AreTimedByOneClock) {
  RecordingBuilder build;
  constexpr uint64_t kStart = 1'795'188'664'000'000'000, kSecond = 1'000'000'000;
  const ClockTriplet clocks[] = {
      {0, 0, kStart}, {kSecond, kSecond, kStart + kSecond}, {2 * kSecond, 2 * kSecond, kStart + kSecond}};
  for (const ClockTriplet& clock : clocks) ASSERT_TRUE(build.writer().write_clock(clock));
  auto& t = build.thread(build.process(100), 1);
  t.lock(kMutex, kSecond / 2);
  t.unlock(kMutex, 2 * kSecond);
  EXPECT_EQ(read(build, SectionClock::kMicroseconds).text.sections,
            "1795188664500000, 1795188666000000, 1500000, 0, 1001\n");
}

// Lock records that no agent would write: every event is one end of a section, or is told as one that is missing.
TEST(RecordedSections, OfRandomRecords) {
  constexpr penna_kind kKinds[] = {PENNA_KIND_LOCK,         PENNA_KIND_LOCK_WAIT, PENNA_KIND_UNLOCK,
                                   PENNA_KIND_LOCK_BUSY,    PENNA_KIND_COND_WAIT, PENNA_KIND_LOCK_AT,
                                   PENNA_KIND_UNLOCK_AT,    PENNA_KIND_UNLOCK,    PENNA_KIND_UNLOCK_AT,
                                   PENNA_KIND_LOCK_REQUEST, PENNA_KIND_WAKE,      PENNA_KIND_LOCK_GONE};
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    RecordingBuilder build;
    const uint32_t process = build.process(100);
    for (int i = 0; i < 1000; ++i) {
      const penna_kind kind = random() % 50 == 0 ? PENNA_KIND_LOST : kKinds[random() % std::size(kKinds)];
      std::vector<uint8_t> payload(8 * (4 + random() % 4));
      for (size_t at = 0; at < payload.size(); at += 8) {
        const uint64_t word = random() % 8 == 0 ? random() : random() % 4 | (random() % 12) << 56;
        std::memcpy(payload.data() + at, &word, sizeof word);
      }
      build.thread(process, static_cast<uint32_t>(1 + random() % 3)).raw(kind, random() % 100'000, payload);
    }
    const Recording recording = build.open();
    CriticalSections sections;
    (void)read_sections(recording, SectionClock::kMicroseconds, sections);
    const SectionCounts counts = text_of(sections).counts;
    EXPECT_GT(counts.complete, 0u);
    EXPECT_EQ(2 * counts.complete + counts.incomplete, sections.events());
    EXPECT_EQ(counts.backwards, 0u);
  }
}

}  // namespace penna::recorded_sections_test

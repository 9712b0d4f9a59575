// SPDX-License-Identifier: MIT
// The watches for conditions of --on: each tells once of what meets it, and keeps nothing of what is gone.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <map>
#include <vector>

#include "collect/conditions/condition.h"
#include "collect/conditions/open_times.h"
#include "recording/records.h"

namespace penna::conditions_test {
namespace {

using Kind = SnapshotCondition::Kind;
constexpr uint64_t kPc = uint64_t{0x5555} << 32 | 0x1230;

// One tick is one nanosecond here. Times count from kBegin, which is far in the future: up_to_date() takes nothing for
// overdue.
class WatchTest : public testing::Test {
 protected:
  static constexpr uint64_t kBegin = uint64_t{1} << 62;

  void watch(Kind kind, uint64_t limit, const std::string& pattern = "", bool is_growth = false,
             const char* where = nullptr) {
    SnapshotCondition condition{kind, "cause", pattern, {}, limit, is_growth};
    if (where != nullptr) condition.where = *Where::parse(where);
    ConditionHelp help;
    help.ticks_per_ns = ticks_per_ns_;
    help.report = [this](SnapshotCause cause) { causes_.push_back(cause.text); };
    help.note = [this](const std::string& sentence) { notes_.push_back(sentence); };
    help.functions.ask = [](uint32_t, uint64_t pc, uint64_t) {
      FunctionTraits traits;
      traits.snapshot = pc == kPc;
      return traits;
    };
    help.functions.learn = [](uint32_t, const Module&) { return false; };
    if (!pattern.empty()) help.is_lock = [](uint32_t, uint64_t address) { return address == 0x1000; };
    help.resident_bytes = [this](uint32_t pid) { return resident_[pid]; };
    watch_ = watch_for(condition, std::move(help));
    watch_->began({.number = 0, .pid = 7, .executable = {}, .command = {}});
  }

  struct Builder {
    std::vector<uint64_t> words;
    Builder& full(uint32_t kind, uint64_t time, std::initializer_list<uint64_t> payload) {
      words.push_back(penna_full_header(kind, static_cast<uint32_t>(1 + payload.size()), kBegin + time));
      words.insert(words.end(), payload);
      return *this;
    }
    Builder& enter(uint64_t time) {
      return words.push_back(penna_call_header(PENNA_TAG_ENTRY, kPc, kBegin + time)), *this;
    }
    Builder& leave(uint64_t time) {
      return words.push_back(penna_call_header(PENNA_TAG_EXIT, kPc, kBegin + time)), *this;
    }
    Builder& site(uint32_t id, uint8_t kind, const char* provider, const char* name) {
      penna_site_info info{};
      info.site = id;
      info.kind = kind;
      info.arg_count = 1;
      info.arg_types[0] = PENNA_ARG_INT;
      const std::string text = std::string(provider) + '\0' + name + '\0' + "x.cc" + '\0' + "number" + '\0';
      info.text_bytes = static_cast<uint16_t>(text.size());
      std::vector<uint64_t> payload(sizeof info / 8 + (text.size() + 7) / 8);
      std::memcpy(payload.data(), &info, sizeof info);
      std::memcpy(reinterpret_cast<char*>(payload.data()) + sizeof info, text.data(), text.size());
      words.push_back(penna_full_header(PENNA_KIND_SITE, static_cast<uint32_t>(1 + payload.size()), kBegin));
      words.insert(words.end(), payload.begin(), payload.end());
      return *this;
    }
    Builder& point(uint32_t id, uint64_t time, uint64_t value) { return full(PENNA_KIND_POINT, time, {id, value}); }
    Builder& alloc(uint64_t address, uint64_t size, uint64_t time) {
      return full(PENNA_KIND_ALLOC, time, {address, size << 32});
    }
    Builder& free(uint64_t address, uint64_t time, uint64_t family = 0) {
      return full(PENNA_KIND_FREE, time, {address | family << 56});
    }
  };

  void see(const Builder& built, uint32_t serial = 1) {
    penna_chunk header{};
    header.thread_serial = serial;
    header.tid = 100 + serial;
    header.time_begin = kBegin;
    header.pc_high = static_cast<uint32_t>(kPc >> 32);
    header.content_bits = (sizeof header + built.words.size() * 8) * 8;
    std::vector<uint8_t> chunk(sizeof header + built.words.size() * 8);
    std::memcpy(chunk.data(), &header, sizeof header);
    std::memcpy(chunk.data() + sizeof header, built.words.data(), built.words.size() * 8);
    watch_->records(0, chunk);
  }

  double ticks_per_ns_ = 1;
  std::vector<std::string> causes_, notes_;
  std::map<uint32_t, std::optional<uint64_t>> resident_;
  std::unique_ptr<ForwardingObserver> watch_;
};

constexpr uint64_t lock_word(uint64_t address, uint64_t sync = PENNA_SYNC_MUTEX) { return address | sync << 56; }

TEST_F(WatchTest, WaitsForLocksThatAreLong) {
  watch(Kind::kWait, 1000);
  see(Builder()
          .full(PENNA_KIND_LOCK_REQUEST, 0, {lock_word(0x1000), 0})
          .full(PENNA_KIND_LOCK_WAIT, 900, {lock_word(0x1000), 0, 0, 0}));
  EXPECT_TRUE(causes_.empty());
  see(Builder().full(PENNA_KIND_LOCK_REQUEST, 1000, {lock_word(0x1000), 0}));
  see(Builder().full(PENNA_KIND_LOCK_WAIT, 2500, {lock_word(0x1000), 0, 0, 0}));
  ASSERT_EQ(causes_.size(), 1u);
  EXPECT_EQ(causes_[0], "cause: thread 101 of process 7 waited 1.5 us for a lock");
  // Threads that are idle.
  for (const uint64_t sync : {PENNA_SYNC_CONDITION, PENNA_SYNC_SEMAPHORE, PENNA_SYNC_JOIN, PENNA_SYNC_BARRIER})
    see(Builder()
            .full(PENNA_KIND_LOCK_REQUEST, 3000, {lock_word(0x1000, sync), 0})
            .full(PENNA_KIND_LOCK_WAIT, 9000, {lock_word(0x1000, sync), 0, 0, 0}));
  EXPECT_EQ(causes_.size(), 1u);
}

TEST_F(WatchTest, WaitsForSomeLock) {
  watch(Kind::kWait, 1000, "ledger");
  for (const uint64_t address : {0x2000, 0x1000})
    see(Builder()
            .full(PENNA_KIND_LOCK_REQUEST, 0, {lock_word(address), 0})
            .full(PENNA_KIND_LOCK_WAIT, 5000, {lock_word(address), 0, 0, 0}));
  EXPECT_EQ(causes_.size(), 1u);
}

TEST_F(WatchTest, LongCallsAlsoAfterALoss) {
  watch(Kind::kCall, 1000, "f");
  see(Builder().enter(0).leave(500).enter(600).enter(700).leave(800).leave(2000));
  ASSERT_EQ(causes_.size(), 1u);
  EXPECT_EQ(causes_[0], "cause: thread 101 of process 7 was in it for 1.4 us");
  see(Builder().enter(3000).full(PENNA_KIND_LOST, 3500, {1, 0, 0, 0}).leave(9000));
  EXPECT_EQ(causes_.size(), 1u);
}

TEST_F(WatchTest, SpansThatAreDescribedLate) {
  watch(Kind::kSpan, 1000, "checkout");
  see(Builder().point(1, 0, 1).point(2, 1500, 1));
  EXPECT_TRUE(causes_.empty());
  see(Builder().site(1, PENNA_SITE_SPAN, "shop", "checkout").site(2, PENNA_SITE_SPAN_END, "shop", "checkout"), 2);
  EXPECT_EQ(causes_.size(), 1u);
  see(Builder()
          .site(3, PENNA_SITE_SPAN, "shop", "other")
          .site(4, PENNA_SITE_SPAN_END, "shop", "other")
          .point(3, 0, 1)
          .point(4, 9000, 1));
  EXPECT_EQ(causes_.size(), 1u);
}

TEST_F(WatchTest, PointsWithValues) {
  watch(Kind::kPoint, 0, "shop:order", false, "number > 100");
  see(Builder().site(1, PENNA_SITE_EVENT, "shop", "order").point(1, 0, 100).point(1, 1, 101).point(2, 2, 500));
  ASSERT_EQ(causes_.size(), 1u);
  EXPECT_EQ(causes_[0], "cause: thread 101 of process 7 passed shop:order");
}

TEST_F(WatchTest, LiveBytesInWhateverOrderThreadsAreSeen) {
  watch(Kind::kLive, 1000);
  for (uint64_t round = 0; round < 1000; ++round) {
    const uint64_t time = round * 100;
    see(Builder().free(0x1000, time + 10), 2);        // before its allocation is seen
    see(Builder().alloc(0x1000, 600, time + 20), 3);  // and a newer block at the same place
    see(Builder().alloc(0x1000, 600, time), 1);
    see(Builder().free(0x1000, time + 30), 1);
  }
  EXPECT_TRUE(causes_.empty());
  see(Builder()
          .alloc(0x2000, 600, 200000)
          .free(0x2000, 200001, PENNA_FAMILY_REALLOC)
          .full(PENNA_KIND_REALLOC_FAILED, 200002, {0x2000}));
  see(Builder().alloc(0x3000, 600, 200003).alloc(0x4000, 600, 200004));
  ASSERT_EQ(causes_.size(), 1u);
  see(Builder().free(0x3000, 200005).free(0x4000, 200006).alloc(0x3000, 600, 200007));
  EXPECT_EQ(causes_.size(), 2u) << "again after it was below";
}

TEST_F(WatchTest, GrowthCountsFromTheStartAndFromTheLastTime) {
  ticks_per_ns_ = 0;  // memory is looked at each time
  resident_[7] = 500;
  watch(Kind::kRss, 100, "", true);
  const auto causes_at = [&](uint64_t bytes) {
    resident_[7] = bytes;
    watch_->up_to_date();
    return causes_.size();
  };
  EXPECT_EQ(causes_at(600), 0u);
  EXPECT_EQ(causes_at(601), 1u);
  EXPECT_EQ(causes_at(650), 1u);
  EXPECT_EQ(causes_at(702), 2u);
  resident_[7].reset();  // it is gone
  watch_->up_to_date();
  EXPECT_EQ(causes_.size(), 2u);
}

TEST_F(WatchTest, SizesAreCrossedAgainAfterTheyWereBelow) {
  ticks_per_ns_ = 0;
  resident_[7] = 500;
  watch(Kind::kRss, 100);
  EXPECT_EQ(causes_.size(), 1u);
  watch_->up_to_date();
  EXPECT_EQ(causes_.size(), 1u);
  for (const uint64_t bytes : {100, 101}) {
    resident_[7] = bytes;
    watch_->up_to_date();
  }
  EXPECT_EQ(causes_.size(), 2u);
}

TEST_F(WatchTest, CrashesAreSignalsThatNobodySends) {
  watch(Kind::kCrash, 0);
  watch_->ended({.number = 0, .how = EndKind::kExited, .code = 1});
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE})
    watch_->ended({.number = 0, .how = EndKind::kSignaled, .code = signal});
  EXPECT_TRUE(causes_.empty());
  watch_->began({.number = 1, .pid = 8, .executable = {}, .command = {}});
  watch_->ended({.number = 1, .how = EndKind::kSignaled, .code = SIGSEGV});
  ASSERT_EQ(causes_.size(), 1u);
  EXPECT_EQ(causes_[0], "cause: process 8 was ended by SIGSEGV");
}

TEST(OpenTimes, ThreadsInNothingTakeNoMemory) {
  OpenTimes times(100);
  for (uint32_t serial = 1; serial <= 100000; ++serial) {
    times.begin({0, serial, serial}, 1, serial);
    EXPECT_FALSE(times.end({0, serial, serial}, 1, serial + 50));
  }
  EXPECT_EQ(times.threads(), 0u);
}

TEST(OpenTimes, WhatNeverEndsIsToldOnceWhileItsThreadLives) {
  OpenTimes times(100);
  times.begin({0, 1, 1}, 1, 1000);
  times.begin({0, 2, 2}, 1, 1000);
  const auto lives = [](const OpenTimes::Thread& thread) { return thread.serial == 1; };
  EXPECT_TRUE(times.take_overdue(1100, lives).empty());
  const auto overdue = times.take_overdue(1101, lives);
  ASSERT_EQ(overdue.size(), 1u);
  EXPECT_EQ(overdue[0].ticks, 101u);
  EXPECT_TRUE(times.take_overdue(5000, lives).empty());
  EXPECT_FALSE(times.end({0, 1, 1}, 1, 6000)) << "it was told";
  EXPECT_EQ(times.threads(), 0u);
}

}  // namespace
}  // namespace penna::conditions_test

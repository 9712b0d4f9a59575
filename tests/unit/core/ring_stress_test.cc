// SPDX-License-Identifier: MIT
// ring.h under eight real writers: every (writer, sequence) arrives once, in order, or was counted. Also runs under
// TSan, with fewer records. The reader satisfies ring.h's one condition: it waits for a writer that was preempted
// inside reserve before too many others pass it, which happens with 16 bits on a busy machine.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "penna/ring.h"

namespace {

#ifndef RING_STRESS_SHARE  // of the records, for sanitizers
#define RING_STRESS_SHARE 1
#endif

constexpr uint32_t kWriters = 8;

struct Item {
  uint32_t writer;
  uint32_t sequence;
  uint64_t check;  // of both: a torn record shows
};

uint64_t check_of(uint32_t writer, uint32_t sequence) {
  return (uint64_t{writer} << 32 | sequence) * 0x9e3779b97f4a7c15;
}

struct Plan {
  uint32_t slots;  // decides how often the ring is full
  uint32_t per_writer;
  uint32_t batch = 1;          // records asked for at once
  uint32_t abandon_every = 0;  // the reader gives up on a living writer's record at each so many idle looks
  uint32_t stall_every = 0;    // a writer gives the processor away between reserve and commit
  uint32_t deaths = 0;         // writers that die with a record half written
};

class Stress {
 public:
  explicit Stress(const Plan& plan)
      : plan_(plan), memory_(penna_ring_bytes(plan.slots, sizeof(Item)) + 64), items_(plan.batch) {
    ring_ = reinterpret_cast<penna_ring*>((reinterpret_cast<uintptr_t>(memory_.data()) + 63) & ~uintptr_t{63});
    EXPECT_EQ(penna_ring_init(ring_, plan.slots, sizeof(Item)), 1);
  }

  void run() {
    std::vector<std::thread> threads;
    for (uint32_t writer = 0; writer < kWriters; ++writer) threads.emplace_back([this, writer] { write(writer); });
    read();
    for (std::thread& thread : threads) thread.join();
    check();
  }

 private:
  void write(uint32_t writer) {
    uint64_t refused = 0;
    for (uint32_t sequence = 0; sequence < plan_.per_writer; ++sequence) {
      uint32_t ticket;
      inside_[writer].store(passed_.load() + 1);
      auto* item = static_cast<Item*>(penna_ring_reserve(ring_, &ticket));
      inside_[writer].store(0);
      if (item == nullptr) {
        ++refused;
        if (sequence % 8 == 0) sched_yield();  // a reader that never runs would be no test
        continue;
      }
      *item = {writer, sequence, check_of(writer, sequence)};
      if (plan_.stall_every != 0 && sequence % plan_.stall_every == 0) sched_yield();
      if (writer < plan_.deaths && sequence > plan_.per_writer / 2) {
        died_.fetch_add(1, std::memory_order_relaxed);
        not_tried_.fetch_add(plan_.per_writer - sequence - 1, std::memory_order_relaxed);
        break;
      }
      penna_ring_commit(ring_, ticket);
    }
    refused_.fetch_add(refused, std::memory_order_relaxed);
    running_.fetch_sub(1, std::memory_order_release);
  }

  void read() {
    uint32_t idle = 0;
    for (bool last = false;;) {
      if (is_too_fast()) {
        sched_yield();
        continue;
      }
      uint32_t got = penna_ring_read_many(ring_, items_.data(), plan_.batch);
      for (uint32_t i = 0; i < got; ++i) take(items_[i]);
      if (got != 0) continue;
      if (last && is_drained()) return;
      if (plan_.abandon_every != 0 && ++idle % plan_.abandon_every == 0) penna_ring_abandon(ring_);
      if (last) penna_ring_abandon(ring_);  // nobody is left who could finish it
      sched_yield();
      last = running_.load(std::memory_order_acquire) == 0;
    }
  }

  // Whether a writer has been inside of reserve for half of the ring's patience.
  bool is_too_fast() {
    auto now = penna_tickets_passed(__atomic_load_n(&ring_->tickets, __ATOMIC_RELAXED));
    uint64_t passed = passed_.load() + penna_ticket_since(now, last_passed_);
    passed_.store(passed);
    last_passed_ = now;
    return std::ranges::any_of(inside_, [passed](const std::atomic<uint64_t>& inside) {
      uint64_t since = inside.load();
      return since != 0 && passed - (since - 1) >= PENNA_RING_PATIENCE / 2;
    });
  }

  void take(const Item& item) {
    ++read_;
    bool good = item.writer < kWriters && item.check == check_of(item.writer, item.sequence) &&
                item.sequence >= next_[item.writer];  // in order, none twice
    if (!good) {
      ++wrong_;
      return;
    }
    next_[item.writer] = item.sequence + 1;
  }

  bool is_drained() const {
    penna_tickets tickets = __atomic_load_n(&ring_->tickets, __ATOMIC_RELAXED);
    return penna_tickets_drawn(tickets) == penna_tickets_passed(tickets);
  }

  void check() {
    uint64_t dropped = penna_ring_dropped(ring_), abandoned = penna_ring_abandoned(ring_);
    EXPECT_EQ(wrong_, 0u);
    EXPECT_EQ(read_ + dropped + abandoned + not_tried_, uint64_t{kWriters} * plan_.per_writer);
    EXPECT_LE(dropped, refused_);  // refused may be counted as abandoned
    EXPECT_LE(refused_, dropped + abandoned);
    if (plan_.abandon_every == 0) {
      EXPECT_EQ(abandoned, died_);
    }
    ::testing::Test::RecordProperty("read", std::to_string(read_));
    ::testing::Test::RecordProperty("dropped", std::to_string(dropped));
    ::testing::Test::RecordProperty("abandoned", std::to_string(abandoned));
    EXPECT_GT(read_, 0u);
  }

  Plan plan_;
  std::vector<char> memory_;
  std::vector<Item> items_;
  penna_ring* ring_;
  std::atomic<uint32_t> running_{kWriters};
  std::atomic<uint64_t> refused_{0}, died_{0}, not_tried_{0};
  std::atomic<uint64_t> passed_{0};                       // tickets, without wrapping
  std::array<std::atomic<uint64_t>, kWriters> inside_{};  // of reserve: passed_ on entry, plus 1; 0: outside
  penna_ticket last_passed_ = 0;
  std::array<uint32_t, kWriters> next_{};
  uint64_t read_ = 0, wrong_ = 0;
};

void stress(const Plan& plan) { Stress(plan).run(); }

// The number that was promised: 8 x 10^7.
TEST(RingStress, ten_million_of_each) {
  stress({.slots = PENNA_RING_TICKET_BITS == 32 ? 1 << 16 : PENNA_RING_MAX_SLOTS,
          .per_writer = 10'000'000 / RING_STRESS_SHARE,
          .batch = 256});
}
TEST(RingStress, roomy) { stress({.slots = 4096, .per_writer = 60'000}); }
TEST(RingStress, always_full) { stress({.slots = 4, .per_writer = 40'000}); }
TEST(RingStress, one_slot) { stress({.slots = 1, .per_writer = 10'000}); }
TEST(RingStress, stalling_writers) { stress({.slots = 16, .per_writer = 20'000, .batch = 5, .stall_every = 3}); }
TEST(RingStress, impatient_reader) {
  stress({.slots = 64, .per_writer = 40'000, .abandon_every = 3, .stall_every = 7});
}
TEST(RingStress, impatient_reader_and_full) {
  stress({.slots = 2, .per_writer = 20'000, .abandon_every = 2, .stall_every = 5});
}
TEST(RingStress, writers_die) { stress({.slots = 64, .per_writer = 10'000, .batch = 16, .deaths = 5}); }

}  // namespace

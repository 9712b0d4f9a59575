// SPDX-License-Identifier: MIT
// ring.h under eight real writers: every (writer, sequence) arrives once, in order, or was counted. Run under TSan, too.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "penna/ring.h"

namespace {

constexpr uint32_t kWriters = 8;

struct Item {
  uint32_t writer;
  uint32_t sequence;
  uint64_t check;  // of both: a torn record shows
};

uint64_t check_of(uint32_t writer, uint32_t sequence) {
  return (uint64_t{writer} << 32 | sequence) * 0x9e3779b97f4a7c15;
}

struct Totals {
  uint64_t read = 0, refused = 0, given_up = 0;
};

// `slots` decides how often the ring is full; `abandon_every`: the reader gives up on a head that is not done, although
// its writer lives, at each so many idle looks (0 = never).
void run(uint32_t slots, uint32_t per_writer, uint32_t abandon_every) {
  std::vector<char> memory(penna_ring_bytes(slots, sizeof(Item)) + 64);
  auto* ring = reinterpret_cast<penna_ring*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t{63});
  ASSERT_EQ(penna_ring_init(ring, slots, sizeof(Item)), 1);

  std::atomic<uint32_t> running{kWriters};
  std::array<std::atomic<uint64_t>, kWriters> refused{}, given_up{};
  std::vector<std::thread> threads;
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (uint32_t sequence = 0; sequence < per_writer; ++sequence) {
        uint32_t ticket;
        auto* item = static_cast<Item*>(penna_ring_reserve(ring, &ticket));
        if (item == nullptr) {
          refused[writer].fetch_add(1, std::memory_order_relaxed);
          continue;
        }
        *item = {writer, sequence, check_of(writer, sequence)};
        if (penna_ring_commit(ring, ticket) == 0) given_up[writer].fetch_add(1, std::memory_order_relaxed);
      }
      running.fetch_sub(1, std::memory_order_release);
    });
  }

  Totals totals;
  std::array<uint32_t, kWriters> next{};
  uint32_t idle = 0;
  for (bool last = false;;) {
    Item item;
    if (penna_ring_read(ring, &item) == 1) {
      ASSERT_LT(item.writer, kWriters);
      ASSERT_EQ(item.check, check_of(item.writer, item.sequence));
      ASSERT_GE(item.sequence, next[item.writer]);  // in order, none twice
      next[item.writer] = item.sequence + 1;
      ++totals.read;
      continue;
    }
    if (last) break;
    if (abandon_every != 0 && ++idle % abandon_every == 0) penna_ring_abandon(ring);
    if (idle % 64 == 0) std::this_thread::yield();
    last = running.load(std::memory_order_acquire) == 0;
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t writer = 0; writer < kWriters; ++writer) {
    totals.refused += refused[writer];
    totals.given_up += given_up[writer];
  }
  EXPECT_EQ(totals.read + totals.refused + totals.given_up, uint64_t{kWriters} * per_writer);
  EXPECT_EQ(penna_ring_dropped(ring), totals.refused + totals.given_up);
  if (abandon_every == 0) {
    EXPECT_EQ(totals.given_up, 0u);
    EXPECT_EQ(penna_ring_abandoned(ring), 0u);
  }
  EXPECT_EQ(ring->read, ring->write);
}

TEST(RingStress, roomy) { run(4096, 60'000, 0); }
TEST(RingStress, always_full) { run(4, 40'000, 0); }
TEST(RingStress, one_slot) { run(1, 10'000, 0); }
TEST(RingStress, impatient_reader) { run(64, 40'000, 3); }

}  // namespace

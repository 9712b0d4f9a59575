// SPDX-License-Identifier: MIT
// ring.h, one step at a time.
#include "penna/ring.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" {
extern unsigned char penna_c_ring[4096];
int c_ring_init(uint32_t slots, uint32_t size);
int c_ring_put(uint32_t value);
uint32_t c_static_ring_sum(void);
}

namespace {

// A ring in memory of exactly its size, so that the address sanitizer sees a step outside.
class Ring {
 public:
  Ring(uint32_t slots, uint32_t size)
      : memory_(static_cast<penna_ring*>(std::aligned_alloc(64, (penna_ring_bytes(slots, size) + 63) & ~size_t{63}))) {
    valid_ = penna_ring_init(memory_, slots, size) == 1;
  }
  ~Ring() { std::free(memory_); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  bool valid() const { return valid_; }
  penna_ring* get() { return memory_; }

  bool put(uint64_t value) {
    uint32_t ticket;
    void* record = penna_ring_reserve(memory_, &ticket);
    if (record == nullptr) return false;
    std::memcpy(record, &value, memory_->slot_size < 8 ? memory_->slot_size : 8);
    penna_ring_commit(memory_, ticket);
    return true;
  }
  std::vector<uint64_t> drain() {
    std::vector<uint64_t> all;
    std::vector<unsigned char> record(memory_->slot_size + 8);
    while (penna_ring_read(memory_, record.data()) == 1) {
      uint64_t value = 0;
      std::memcpy(&value, record.data(), memory_->slot_size < 8 ? memory_->slot_size : 8);
      all.push_back(value);
    }
    return all;
  }
  uint32_t dropped() { return penna_ring_dropped(memory_); }
  uint32_t abandoned() { return penna_ring_abandoned(memory_); }

 private:
  penna_ring* memory_;
  bool valid_;
};

using Values = std::vector<uint64_t>;

// As many drawn as passed.
penna_tickets both(penna_ticket ticket) { return penna_tickets{ticket} << PENNA_RING_TICKET_BITS | ticket; }

TEST(Ring, takes_powers_of_two_only) {
  for (uint32_t slots : {0u, 3u, 6u, 12u, PENNA_RING_MAX_SLOTS + 1u, PENNA_RING_MAX_SLOTS * 2u}) {
    EXPECT_EQ(penna_ring_init(reinterpret_cast<penna_ring*>(penna_c_ring), slots, 8), 0) << slots;
  }
  for (uint32_t slots : {1u, 2u, 4u, 1024u}) EXPECT_TRUE(Ring(slots, 8).valid()) << slots;
}

TEST(Ring, keeps_the_first_and_counts_the_rest) {
  Ring ring(4, 8);
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(ring.put(i), i < 4);
  EXPECT_EQ(ring.drain(), (Values{0, 1, 2, 3}));
  EXPECT_EQ(ring.dropped(), 1u);
  EXPECT_EQ(ring.drain(), Values{});
}

TEST(Ring, goes_round_for_any_slot_size) {
  for (uint32_t size : {1u, 4u, 7u, 8u, 13u, 200u}) {
    Ring ring(2, size);
    uint64_t mask = size < 8 ? (uint64_t{1} << (size * 8)) - 1 : UINT64_MAX;
    for (uint64_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(ring.put(i));
      ASSERT_EQ(ring.drain(), (Values{i & mask})) << size;
    }
    EXPECT_EQ(ring.dropped(), 0u);
  }
}

TEST(Ring, copies_every_byte_and_no_more) {
  for (uint32_t size = 1; size < 40; ++size) {
    Ring ring(1, size);
    uint32_t ticket;
    auto* record = static_cast<unsigned char*>(penna_ring_reserve(ring.get(), &ticket));
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(record) % 8, 0u);
    for (uint32_t i = 0; i < size; ++i) record[i] = static_cast<unsigned char>(i + 1);
    penna_ring_commit(ring.get(), ticket);
    std::unique_ptr<unsigned char[]> out(new unsigned char[size + 1]);  // at an odd address, ending where memory ends
    ASSERT_EQ(penna_ring_read(ring.get(), out.get() + 1), 1);
    for (uint32_t i = 0; i < size; ++i) EXPECT_EQ(out[i + 1], i + 1);
  }
}

TEST(Ring, reads_in_the_order_of_reservation) {
  Ring ring(4, 8);
  uint32_t first, second;
  auto* a = static_cast<uint64_t*>(penna_ring_reserve(ring.get(), &first));
  auto* b = static_cast<uint64_t*>(penna_ring_reserve(ring.get(), &second));
  *b = 2;
  penna_ring_commit(ring.get(), second);
  EXPECT_EQ(ring.drain(), Values{});  // the first is not done
  *a = 1;
  penna_ring_commit(ring.get(), first);
  EXPECT_EQ(ring.drain(), (Values{1, 2}));
}

TEST(Ring, a_dead_writer_costs_one_slot_and_nothing_else) {
  Ring ring(8, 8);
  uint32_t dead;
  for (uint64_t i = 0; i < 3; ++i) ring.put(i);
  ASSERT_NE(penna_ring_reserve(ring.get(), &dead), nullptr);  // never commits
  for (uint64_t i = 3; i < 7; ++i) ASSERT_TRUE(ring.put(i));
  EXPECT_EQ(ring.drain(), (Values{0, 1, 2}));
  EXPECT_EQ(penna_ring_abandon(ring.get()), 1);
  EXPECT_EQ(ring.drain(), (Values{3, 4, 5, 6}));
  EXPECT_EQ(ring.abandoned(), 1u);
  EXPECT_EQ(ring.dropped(), 0u);
  for (uint64_t lap = 0; lap < 50; ++lap) {  // goes on for ever without the slot, and loses nothing
    for (uint64_t i = 0; i < 7; ++i) ASSERT_TRUE(ring.put(lap * 7 + i)) << lap;
    EXPECT_EQ(ring.drain().size(), 7u) << lap;
  }
  EXPECT_EQ(ring.dropped(), 0u);
}

TEST(Ring, a_slow_writer_that_was_given_up_spoils_nothing_and_brings_its_slot_back) {
  Ring ring(4, 8);
  uint32_t slow;
  auto* record = static_cast<uint64_t*>(penna_ring_reserve(ring.get(), &slow));
  ring.put(1);
  ASSERT_EQ(penna_ring_abandon(ring.get()), 1);
  EXPECT_EQ(ring.drain(), (Values{1}));
  for (uint64_t i = 2; i < 5; ++i) ASSERT_TRUE(ring.put(i));
  *record = 99;  // while others use the ring
  penna_ring_commit(ring.get(), slow);
  EXPECT_EQ(ring.drain(), (Values{2, 3, 4}));
  for (uint64_t lap = 0; lap < 3; ++lap) {  // all four again
    for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(ring.put(i)) << lap;
    EXPECT_EQ(ring.drain(), (Values{0, 1, 2, 3}));
  }
  EXPECT_EQ(ring.abandoned(), 1u);
  EXPECT_EQ(ring.dropped(), 0u);
}

TEST(Ring, abandons_only_what_is_reserved) {
  Ring ring(4, 8);
  EXPECT_EQ(penna_ring_abandon(ring.get()), 0);  // empty
  ring.put(7);
  EXPECT_EQ(penna_ring_abandon(ring.get()), 0);  // can be read
  EXPECT_EQ(ring.drain(), (Values{7}));
  EXPECT_EQ(ring.abandoned(), 0u);
}

TEST(Ring, when_all_writers_died_every_slot_can_be_given_up) {
  Ring ring(4, 8);
  uint32_t ticket;
  for (int i = 0; i < 4; ++i) ASSERT_NE(penna_ring_reserve(ring.get(), &ticket), nullptr);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(penna_ring_abandon(ring.get()), 1);
  EXPECT_EQ(penna_ring_abandon(ring.get()), 0);
  EXPECT_FALSE(ring.put(1));  // nothing left, but nobody hangs, and it is counted
  EXPECT_EQ(ring.dropped(), 1u);
  EXPECT_EQ(ring.drain(), Values{});
}

// As after almost all tickets: both halves of `tickets` wrap, and so do the words of the slots.
TEST(Ring, tickets_wrap) {
  for (bool with_a_dead_writer : {false, true}) {
    Ring ring(4, 8);
    penna_ring* raw = ring.get();
    constexpr auto kStart = static_cast<penna_ticket>(-6);
    raw->tickets = both(kStart);
    for (uint32_t i = 0; i < 4; ++i) {
      penna_ticket ticket = penna_ticket_plus(kStart, i - 4);
      *penna_ring_slot(raw, 4, 8, ticket) = {penna_slot_word(ticket, 4, PENNA_SLOT_DONE), ticket};
    }
    uint32_t dead;
    if (with_a_dead_writer) {
      ASSERT_NE(penna_ring_reserve(raw, &dead), nullptr);
      ASSERT_EQ(penna_ring_abandon(raw), 1);
    }
    for (uint64_t i = 0; i < 20; ++i) {
      ASSERT_TRUE(ring.put(i));
      ASSERT_TRUE(ring.put(i + 100));
      ASSERT_EQ(ring.drain(), (Values{i, i + 100}));
    }
    if (with_a_dead_writer) penna_ring_commit(raw, dead);
    ring.put(7), ring.drain();
    for (int i = 0; i < 8; ++i) ring.put(8), ring.drain();
    for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(ring.put(i), i < 4);
    EXPECT_EQ(ring.dropped(), 1u);
  }
}

// What says when a slot opens is compared modulo all tickets: a slot that was never closed must not close by itself.
TEST(Ring, slots_stay_open_for_ever) {
  constexpr uint32_t kJumps = 32, kFar = 1u << (PENNA_RING_TICKET_BITS - 3);  // four times through all tickets
  Ring ring(2, 8);
  penna_ring* raw = ring.get();
  penna_ticket ticket = 0;
  for (uint32_t jump = 0; jump < kJumps; ++jump, ticket = penna_ticket_plus(ticket, kFar)) {
    raw->tickets = both(ticket);
    for (uint32_t i = 0; i < 2; ++i)
      penna_ring_slot(raw, 2, 8, ticket + i)->word =
          penna_slot_word(penna_ticket_plus(ticket, i - 2), 2, PENNA_SLOT_DONE);
    for (uint64_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(ring.put(i)) << ticket;
      ASSERT_EQ(ring.drain(), Values{i}) << ticket;
    }
  }
}

// As if so many tickets had passed that `ticket` comes next: every slot is done but that of `abandoned`, which is closed.
void jump_to(penna_ring* raw, penna_ticket ticket, penna_ticket abandoned) {
  uint32_t slots = raw->slot_count;
  raw->tickets = both(ticket);
  for (uint32_t i = 0; i < slots; ++i, ++ticket) {
    penna_slot* slot = penna_ring_slot(raw, slots, raw->slot_size, ticket);
    penna_ticket last = penna_ticket_plus(ticket, -slots);
    if ((ticket - abandoned) % slots == 0)
      slot->opens = penna_ticket_plus(ticket, slots);
    else
      *slot = {penna_slot_word(last, slots, PENNA_SLOT_DONE), last};
  }
}

// Twice through all tickets: the number of the dead writer's ticket comes again, and is not its.
TEST(Ring, a_dead_writer_costs_nothing_when_its_ticket_comes_again) {
  constexpr uint32_t kSlots = 4;
  Ring ring(kSlots, 8);
  uint32_t dead;
  ASSERT_NE(penna_ring_reserve(ring.get(), &dead), nullptr);
  ASSERT_EQ(penna_ring_abandon(ring.get()), 1);
  for (uint32_t jump = 0; jump < 16; ++jump) {
    auto from = static_cast<penna_ticket>(dead + jump * PENNA_RING_PATIENCE - 2 * kSlots);
    if (jump != 0) jump_to(ring.get(), from, static_cast<penna_ticket>(dead));
    for (uint64_t i = 0; i < 4 * kSlots; ++i) {
      ASSERT_TRUE(ring.put(i)) << jump << ", " << i;
      ASSERT_EQ(ring.drain(), Values{i}) << jump << ", " << i;
    }
  }
  EXPECT_EQ(ring.abandoned(), 1u);
}

// A commit may be so late that its word is that of a ticket to come, whose record is then not read before it is written.
TEST(Ring, a_writer_may_sleep_in_commit_as_long_as_it_likes) {
  constexpr uint32_t kSlots = 4, kLaps = 4;
  for (int bits = PENNA_RING_TICKET_BITS - 2; bits <= PENNA_RING_TICKET_BITS; ++bits) {
    for (uint32_t late = 0; late < kLaps * kSlots; ++late) {
      Ring ring(kSlots, 8);
      uint32_t slow, ticket;
      ASSERT_NE(penna_ring_reserve(ring.get(), &slow), nullptr);
      ASSERT_EQ(penna_ring_abandon(ring.get()), 1);
      for (uint64_t passed : {uint64_t{PENNA_RING_PATIENCE}, uint64_t{1} << bits}) {
        jump_to(ring.get(), static_cast<penna_ticket>(slow + passed - 2 * kSlots), static_cast<penna_ticket>(slow));
        if (passed == PENNA_RING_PATIENCE)
          for (uint64_t i = 0; i < kLaps * kSlots; ++i) ring.put(i), ring.drain();
      }
      for (uint64_t i = 0; i < kLaps * kSlots; ++i) {
        if (i == late) penna_ring_commit(ring.get(), slow);
        void* record = penna_ring_reserve(ring.get(), &ticket);
        ASSERT_NE(record, nullptr) << bits << ", " << late << ", " << i;
        ASSERT_EQ(ring.drain(), Values{}) << bits << ", " << late << ", " << i;
        std::memcpy(record, &i, sizeof i);
        penna_ring_commit(ring.get(), ticket);
        ASSERT_EQ(ring.drain(), Values{i}) << bits << ", " << late << ", " << i;
      }
    }
  }
}

TEST(Ring, reads_in_batches) {
  Ring ring(8, 12);
  std::vector<unsigned char> out(12 * 10);
  EXPECT_EQ(penna_ring_read_many(ring.get(), out.data(), 10), 0u);
  for (uint64_t lap = 0; lap < 20; ++lap) {
    for (uint64_t i = 0; i < 7; ++i) ASSERT_TRUE(ring.put(lap << 8 | i));
    ASSERT_EQ(penna_ring_read_many(ring.get(), out.data(), 0), 0u);
    ASSERT_EQ(penna_ring_read_many(ring.get(), out.data(), 3), 3u);
    ASSERT_EQ(penna_ring_read_many(ring.get(), out.data() + 3 * 12, 7), 4u);
    for (uint64_t i = 0; i < 7; ++i) {
      uint64_t value;
      std::memcpy(&value, out.data() + 12 * i, sizeof value);
      ASSERT_EQ(value, lap << 8 | i);
    }
  }
  uint32_t dead;
  ring.put(1);
  ASSERT_NE(penna_ring_reserve(ring.get(), &dead), nullptr);
  ring.put(2);
  EXPECT_EQ(penna_ring_read_many(ring.get(), out.data(), 10), 1u);  // up to the writer that is not done
  ASSERT_EQ(penna_ring_abandon(ring.get()), 1);
  EXPECT_EQ(penna_ring_read_many(ring.get(), out.data(), 10), 1u);
  for (uint64_t i = 0; i < 7; ++i) ASSERT_TRUE(ring.put(i));  // over the slot that is out of use
  EXPECT_EQ(penna_ring_read_many(ring.get(), out.data(), 10), 7u);
}

PENNA_RING_DEFINE(static_ring, 8, 4);
constinit penna_ring* const known_at_compile_time = &static_ring_memory.ring;

TEST(Ring, can_be_static) {
  EXPECT_EQ(known_at_compile_time, static_ring);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(static_ring) % 64, 0u);
  EXPECT_GE(sizeof static_ring_memory, penna_ring_bytes(8, 4));
  for (uint32_t i = 0; i < 9; ++i) {
    uint32_t ticket;
    void* record = penna_ring_reserve(static_ring, &ticket);
    ASSERT_EQ(record != nullptr, i < 8);
    if (record == nullptr) break;
    std::memcpy(record, &i, sizeof i);
    penna_ring_commit(static_ring, ticket);
  }
  uint32_t out[9];
  ASSERT_EQ(penna_ring_read_many(static_ring, out, 9), 8u);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(out[i], i);
  EXPECT_EQ(penna_ring_dropped(static_ring), 1u);
}

TEST(Ring, is_the_same_in_c) {
  EXPECT_EQ(c_static_ring_sum(), 3u);
  ASSERT_EQ(c_ring_init(8, 4), 1);
  for (uint32_t i = 0; i < 9; ++i) EXPECT_EQ(c_ring_put(i), i < 8 ? 1 : 0);
  auto* ring = reinterpret_cast<penna_ring*>(penna_c_ring);
  uint32_t value;
  for (uint32_t i = 0; i < 8; ++i) {
    ASSERT_EQ(penna_ring_read(ring, &value), 1);
    EXPECT_EQ(value, i);
  }
  EXPECT_EQ(penna_ring_dropped(ring), 1u);
}

// The reader against memory that somebody else scribbles into: it must come back, and stay inside.
TEST(Ring, the_checked_reader_survives_any_content) {
  constexpr uint32_t kSlots = 8, kSize = 4;
  uint64_t seed = 88172645463325252;
  auto random = [&] { return seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; };
  for (int round = 0; round < 2000; ++round) {
    Ring ring(kSlots, kSize);
    auto* bytes = reinterpret_cast<unsigned char*>(ring.get());
    size_t total = penna_ring_bytes(kSlots, kSize);
    for (size_t i = 0; i < total; ++i)
      if (random() % 4 == 0) bytes[i] = static_cast<unsigned char>(random());
    std::unique_ptr<uint32_t[]> out(new uint32_t[3]);
    for (int i = 0; i < 20; ++i) {
      ASSERT_LE(penna_ring_read_checked(ring.get(), kSlots, kSize, out.get(), 3), 3u);
      penna_ring_abandon_checked(ring.get(), kSlots, kSize);
    }
  }
}

}  // namespace

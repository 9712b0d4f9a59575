// SPDX-License-Identifier: MIT
// chunks.cc: what the collector gets when a chunk is full, when a thread ends, and when there is no room; what a chunk
// and its records say about losses.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <utility>
#include <vector>

#include "agent/core/lifecycle.h"
#include "agent/core/writer.h"
#include "penna/ring.h"

namespace {
constexpr uint32_t kChunks = 64;
alignas(PENNA_CHUNK_BYTES) uint8_t pool[kChunks * size_t{PENNA_CHUNK_BYTES}];
alignas(4096) uint8_t channel_memory[8192];
constexpr size_t kRingAt = 4096;
uint64_t free_bitmap;
penna_doorbell doorbell;
penna_life life;
bool is_new_thread;
int raised_on_entry;  // a signal that comes while signals are blocked
}  // namespace

// What lifecycle.cc and modules.cc define in the agent.
namespace penna::agent {
Process process;
__thread Thread thread __attribute__((tls_model("initial-exec"))) = {};
uint32_t module_generation = 7;
uint32_t after_fork_or_start() { return 0; }
bool recorder_alive() { return true; }
void stop_recording() {}
bool enter_thread() {
  thread.serial = 5;
  thread.tid = 1234;
  if (raised_on_entry != 0) ::raise(std::exchange(raised_on_entry, 0));
  return std::exchange(is_new_thread, false);
}
}  // namespace penna::agent

namespace penna::agent::chunks_test {
namespace {

constexpr uint64_t kLock = 0x7f0000001000;
constexpr uint32_t kLockBytes = 16;

penna_channel* channel() { return reinterpret_cast<penna_channel*>(channel_memory); }
penna_ring* ring() { return reinterpret_cast<penna_ring*>(channel_memory + kRingAt); }
const penna_chunk& header_of(uint32_t chunk) {
  return *reinterpret_cast<const penna_chunk*>(pool + size_t{chunk} * PENNA_CHUNK_BYTES);
}
bool write_lock() { return write_record(PENNA_KIND_LOCK, penna_lock{kLock}, PENNA_LOCKS, penna_now()); }

struct Chunks : testing::Test {
  void SetUp() override {
    std::memset(pool, 0, sizeof pool);
    std::memset(channel_memory, 0, sizeof channel_memory);
    ASSERT_LE(kRingAt + penna_ring_bytes(kChunks, sizeof(uint32_t)), sizeof channel_memory);
    ASSERT_EQ(penna_ring_init(ring(), kChunks, sizeof(uint32_t)), 1);
    channel()->full_at = kRingAt;
    doorbell = {};
    free_bitmap = UINT64_MAX;
    process = {};
    process.chunks = pool;
    process.channel = channel();
    process.doorbell = &doorbell;
    process.life = &life;
    process.free_bitmap = &free_bitmap;
    process.chunks_ready = kChunks;
    process.backlog_limit = kChunks;
    process.on_full = PENNA_ON_FULL_DROP;
    thread = {};
    thread.cursor = kNoChunk;
    is_new_thread = false;
    raised_on_entry = 0;
  }

  // Chunks handed over since the last look, in order.
  static std::vector<uint32_t> handed() {
    std::vector<uint32_t> found;
    for (uint32_t chunk; penna_ring_read(ring(), &chunk) != 0;) found.push_back(chunk);
    return found;
  }
  // The headers of the records in a chunk, up to the first that is none.
  static std::vector<uint64_t> records(uint32_t chunk) {
    std::vector<uint64_t> found;
    const uint8_t* at = pool + size_t{chunk} * PENNA_CHUNK_BYTES;
    const uint8_t* const end = at + PENNA_CHUNK_BYTES;
    for (at += PENNA_CHUNK_HEADER_BYTES; at < end;) {
      uint64_t header;
      std::memcpy(&header, at, sizeof header);
      if (header == 0) break;
      found.push_back(header);
      at += penna_header_tag(header) == PENNA_TAG_FULL ? size_t{penna_header_words(header)} * 8 : 8;
    }
    EXPECT_LE(at, end);
    return found;
  }
  static std::vector<uint32_t> kinds(uint32_t chunk) {
    std::vector<uint32_t> found;
    for (const uint64_t header : records(chunk)) found.push_back(penna_header_kind(header));
    return found;
  }
  template <typename Payload>
  static Payload payload(uint32_t chunk, uint32_t record_at) {
    Payload read;
    std::memcpy(&read, pool + size_t{chunk} * PENNA_CHUNK_BYTES + record_at + 8, sizeof read);
    return read;
  }
  // Leaves `room` bytes in chunk 0.
  static void fill_but(uint32_t room) {
    ASSERT_TRUE(write_lock());
    while (static_cast<uint32_t>(thread.cursor) + kLockBytes <= PENNA_CHUNK_BYTES - room) ASSERT_TRUE(write_lock());
    const uint32_t left = PENNA_CHUNK_BYTES - room - static_cast<uint32_t>(thread.cursor);
    if (left != 0) begin_record(PENNA_KIND_PAD, left / 8, kNoClass, penna_now()).commit();
    ASSERT_EQ(thread.cursor, PENNA_CHUNK_BYTES - room);
  }
};

TEST_F(Chunks, WhatIsLeftOfAFullChunkIsPadded) {
  fill_but(8);
  ASSERT_TRUE(write_lock());
  EXPECT_EQ(handed(), std::vector<uint32_t>{0});
  const std::vector<uint64_t> found = records(0);
  EXPECT_EQ(penna_header_kind(found.back()), PENNA_KIND_PAD);
  EXPECT_EQ(penna_header_words(found.back()), 1U);
  EXPECT_EQ(header_of(0).content_bits, uint64_t{PENNA_CHUNK_BYTES} * 8);
  EXPECT_EQ(kinds(1), std::vector<uint32_t>{PENNA_KIND_LOCK});
  EXPECT_EQ(header_of(1).sequence, header_of(0).sequence + 1);
  EXPECT_EQ(channel()->backlog, 1U);
  EXPECT_EQ(doorbell.bell, 1U);
}

// The chunk behind it is another thread's.
TEST_F(Chunks, NothingIsWrittenPastAFullChunk) {
  free_bitmap &= ~uint64_t{2};
  uint8_t* const neighbour = pool + PENNA_CHUNK_BYTES;
  std::memset(neighbour, 0x5a, PENNA_CHUNK_BYTES);
  const std::vector<uint8_t> before(neighbour, neighbour + PENNA_CHUNK_BYTES);
  fill_but(0);
  ASSERT_TRUE(write_lock());
  EXPECT_EQ(handed(), std::vector<uint32_t>{0});
  EXPECT_EQ(std::memcmp(neighbour, before.data(), before.size()), 0);
  EXPECT_EQ(kinds(2), std::vector<uint32_t>{PENNA_KIND_LOCK});
}

TEST_F(Chunks, AChunkThatIsClosedEndsBehindItsLastRecord) {
  ASSERT_TRUE(write_lock());
  ASSERT_TRUE(write_lock());
  close_chunk();
  EXPECT_EQ(handed(), std::vector<uint32_t>{0});
  EXPECT_EQ(header_of(0).content_bits, (uint64_t{PENNA_CHUNK_HEADER_BYTES} + 2 * kLockBytes) * 8);
  EXPECT_EQ(thread.cursor, kNoChunk);
  close_chunk();
  EXPECT_EQ(handed(), std::vector<uint32_t>{});
}

TEST_F(Chunks, ANewThreadTellsItsName) {
  is_new_thread = true;
  ASSERT_TRUE(write_lock());
  EXPECT_EQ(kinds(0).back(), PENNA_KIND_THREAD);
  EXPECT_EQ(header_of(0).thread_serial, 5U);
  EXPECT_EQ(header_of(0).tid, 1234U);
  EXPECT_EQ(header_of(0).generation, 7U);
}

// In the counters at once; to whoever reads the thread's events, with its next chunk.
TEST_F(Chunks, WhatIsLostIsTold) {
  fill_but(0);
  free_bitmap = 0;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(write_lock());
  lose_call(PENNA_LOSS_PAIRS);
  EXPECT_EQ(channel()->counters.lost[PENNA_LOCKS], 3U);
  EXPECT_EQ(channel()->counters.lost[PENNA_CALLS], 2U);
  EXPECT_EQ(channel()->counters.lost_for[PENNA_LOSS_PAIRS], 2U);
  EXPECT_EQ(handed(), std::vector<uint32_t>{0});
  EXPECT_EQ(header_of(0).events_discarded, 0U);

  free_bitmap = 2 | 4;
  ASSERT_TRUE(write_lock());
  EXPECT_EQ(header_of(1).events_discarded, 5U);
  const uint32_t behind_lock = PENNA_CHUNK_HEADER_BYTES + kLockBytes;
  ASSERT_EQ(kinds(1), (std::vector<uint32_t>{PENNA_KIND_LOCK, PENNA_KIND_LOST}));
  const auto lost = payload<penna_lost>(1, behind_lock);
  EXPECT_EQ(lost.count[PENNA_LOCKS], 3U);
  EXPECT_EQ(lost.count[PENNA_CALLS], 2U);
  // Told once; the sum stays.
  close_chunk();
  ASSERT_TRUE(write_lock());
  EXPECT_EQ(kinds(2), std::vector<uint32_t>{PENNA_KIND_LOCK});
  EXPECT_EQ(header_of(2).events_discarded, 5U);
}

// While the thread waits for room, a handler of its own gets the chunk that it waits for.
void on_signal(int) {
  free_bitmap = 1 | 2;
  ++channel()->freed_generation;
  EXPECT_TRUE(write_lock());
}
TEST_F(Chunks, AChunkOpenedInVainIsHandedOverEmpty) {
  free_bitmap = 0;
  process.on_full = PENNA_ON_FULL_BLOCK;
  ::signal(SIGUSR1, on_signal);
  raised_on_entry = SIGUSR1;
  ASSERT_TRUE(write_lock());
  ::signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(handed(), std::vector<uint32_t>{1});
  EXPECT_EQ(header_of(1).content_bits, uint64_t{PENNA_CHUNK_HEADER_BYTES} * 8);
  EXPECT_EQ(kinds(0), (std::vector<uint32_t>{PENNA_KIND_LOCK, PENNA_KIND_LOCK}));
  EXPECT_EQ(header_of(0).sequence + 1, header_of(1).sequence);
  EXPECT_EQ(channel()->counters.lost[PENNA_LOCKS], 0U);
}

// A call has 8 bytes where its chunk can tell its time and its code, and a record of its own else.
constexpr uintptr_t kCode = 0x123400001000;
TEST_F(Chunks, ACallOfOtherCodeIsToldInFull) {
  thread.pc_high = kCode >> 32;
  ASSERT_TRUE(write_lock());
  write_call(kCode, PENNA_TAG_ENTRY);
  write_call(kCode + (uintptr_t{1} << 32), PENNA_TAG_EXIT);
  const std::vector<uint64_t> found = records(0);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(penna_header_tag(found[1]), PENNA_TAG_ENTRY);
  EXPECT_EQ(penna_header_kind(found[2]), PENNA_KIND_PAD);
  EXPECT_EQ(penna_header_kind(found[3]), PENNA_KIND_CALL_EXIT);
  EXPECT_EQ(payload<penna_call>(0, PENNA_CHUNK_HEADER_BYTES + kLockBytes + 16).pc, kCode + (uintptr_t{1} << 32));
}
TEST_F(Chunks, ACallLongAfterItsChunkBeganIsToldInFull) {
  thread.pc_high = kCode >> 32;
  ASSERT_TRUE(write_lock());
  reinterpret_cast<penna_chunk*>(pool)->time_begin -= uint64_t{1} << (PENNA_CALL_TIME_BITS - 1);
  const uint64_t before = penna_now();
  write_call(kCode, PENNA_TAG_ENTRY);
  const std::vector<uint64_t> found = records(0);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(penna_header_kind(found[1]), PENNA_KIND_PAD);
  EXPECT_EQ(penna_header_kind(found[2]), PENNA_KIND_CALL_ENTRY);
  EXPECT_GE(penna_header_time(found[2], header_of(0).time_begin), before);
}

}  // namespace
}  // namespace penna::agent::chunks_test

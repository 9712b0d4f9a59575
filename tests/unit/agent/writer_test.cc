// SPDX-License-Identifier: MIT
// write_record(): the contents of the chunk, including one that is nearly too old to express a time.
#include "agent/core/writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace {
alignas(PENNA_CHUNK_BYTES) uint8_t memory[PENNA_CHUNK_BYTES];
int again;  // calls of reserve_again()
}  // namespace

// What lifecycle.cc and chunks.cc define in the agent.
namespace penna::agent {
Process process;
__thread Thread thread __attribute__((tls_model("initial-exec"))) = {};
uint32_t after_fork_or_start() { return 0; }
uint64_t* reserve_in_new_chunk(uint64_t, uint32_t, penna_event_class) { return nullptr; }
uint64_t* reserve_again(uint64_t* words, uint32_t word_count, penna_event_class event_class) {
  ++again;
  __atomic_store_n(words, penna_full_header(PENNA_KIND_PAD, word_count, penna_now()), __ATOMIC_RELEASE);
  chunk_of(words)->time_begin = penna_now();
  return reserve(word_count * 8, event_class);
}
}  // namespace penna::agent

namespace penna::agent::writer_test {
namespace {

constexpr uint64_t kLock = 0x7f0000001000;

struct Writer : testing::Test {
  void SetUp() override {
    std::memset(memory, 0, sizeof memory);
    process.chunks = memory;
    again = 0;
    chunk_begins(penna_now());
    thread.time_end = penna_now() + kChunkTicks;
    thread.cursor = PENNA_CHUNK_HEADER_BYTES;
  }
  static void chunk_begins(uint64_t time) { reinterpret_cast<penna_chunk*>(memory)->time_begin = time; }
  static uint64_t write(uint64_t time) {
    EXPECT_TRUE(write_record(PENNA_KIND_LOCK, penna_lock{kLock}, PENNA_LOCKS, time));
    return time;
  }
  // The records; the time of each is told relative to its chunk.
  static std::vector<uint64_t> headers() {
    std::vector<uint64_t> found;
    const uint8_t* at = memory + PENNA_CHUNK_HEADER_BYTES;
    while (const uint64_t header = word(at)) {
      found.push_back(header);
      at += size_t{penna_header_words(header)} * 8;
    }
    return found;
  }
  static uint64_t word(const uint8_t* at) {
    uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
};

TEST_F(Writer, ARecordIsWholeWhenItIsWritten) {
  const uint64_t time = write(penna_now());
  EXPECT_EQ(headers(), std::vector<uint64_t>{penna_full_header(PENNA_KIND_LOCK, 2, time)});
  EXPECT_EQ(word(memory + PENNA_CHUNK_HEADER_BYTES + 8), kLock);
  EXPECT_EQ(again, 0);
}

TEST_F(Writer, ATimeThatTheChunkCannotTellGoesToAnother) {
  const uint64_t now = penna_now();
  chunk_begins(now - kChunkTicks);
  thread.time_end = now;
  const uint64_t time = write(now);
  const std::vector<uint64_t> found = headers();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(penna_header_kind(found[0]), PENNA_KIND_PAD);
  EXPECT_EQ(found[1], penna_full_header(PENNA_KIND_LOCK, 2, time));
  EXPECT_EQ(again, 1);
}

// A handler has opened another chunk since the thread was asked.
TEST_F(Writer, WhatTheThreadTakesForLateMayFitTheChunk) {
  thread.time_end = 0;
  const uint64_t time = write(penna_now());
  EXPECT_EQ(headers(), std::vector<uint64_t>{penna_full_header(PENNA_KIND_LOCK, 2, time)});
  EXPECT_EQ(again, 0);
}

// Who finishes a point has its time from there.
TEST_F(Writer, AnOpenRecordHasItsTime) {
  const uint64_t time = penna_now();
  const Record record = begin_record(PENNA_KIND_POINT, 3, PENNA_POINTS, time);
  ASSERT_TRUE(record);
  EXPECT_EQ(headers(), std::vector<uint64_t>{penna_full_header(PENNA_KIND_POINT, 3, time) | PENNA_TAG_BUSY});
}

}  // namespace
}  // namespace penna::agent::writer_test

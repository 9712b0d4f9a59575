// SPDX-License-Identifier: MIT
// CallDigest: whichever chunks of a thread are discarded, each call seen in the others has its true beginning and end.
#include "recording/call_digest.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

#include "chunk_builder.h"

namespace penna::call_digest_test {
namespace {

constexpr uint64_t kCode = 0x5555'0000'0000;  // as ChunkBuilder
using Chunk = std::vector<uint8_t>;

struct Call {
  uint64_t pc, begin, end;  // end 0: open
  bool operator==(const Call&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Call& call) {
  return out << call.pc % 0x1000 << " [" << call.begin << ", " << call.end << "]";
}

// What a reader makes of chunks, in order of their beginning; `strays`: exits of what is not open.
std::vector<Call> calls_of(const std::vector<Chunk>& chunks, int* strays) {
  std::vector<Call> calls;
  std::vector<size_t> open;
  uint64_t next = 0;
  for (const Chunk& chunk : chunks) {
    RecordCursor in(chunk);
    EXPECT_GE(in.header().sequence, next);
    next = in.header().sequence + 1;
    Record record;
    while (in.next(record)) {
      if (record.kind == PENNA_KIND_CALL_ENTRY) {
        open.push_back(calls.size());
        calls.push_back({record.pc, record.time, 0});
        continue;
      }
      if (record.kind != PENNA_KIND_CALL_EXIT) continue;
      while (!open.empty() && calls[open.back()].pc != record.pc) open.pop_back();
      if (open.empty()) {
        ++*strays;
        continue;
      }
      calls[open.back()].end = record.time;
      open.pop_back();
    }
    EXPECT_FALSE(in.damaged());
  }
  return calls;
}

penna_chunk header_of(const Chunk& chunk) {
  penna_chunk header;
  std::memcpy(&header, chunk.data(), sizeof header);
  return header;
}

// As ChunkSink does.
std::vector<Chunk> keep(const std::vector<Chunk>& chunks, const std::vector<bool>& stored) {
  CallDigest digest;
  std::vector<Chunk> file;
  uint64_t left_out = 0;
  const auto add = [&](const std::vector<Chunk>& more) {
    EXPECT_LE(more.size(), left_out);
    file.insert(file.end(), more.begin(), more.end());
    left_out = 0;
  };
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (stored[i]) {
      if (left_out != 0) add(digest.take(header_of(chunks[i]), left_out));
      file.push_back(chunks[i]);
    } else {
      ++left_out;
    }
    digest.add(chunks[i], stored[i]);
  }
  if (left_out != 0) add(digest.take_exits(header_of(chunks.back()), left_out));
  return file;
}

// A thread that calls and returns at random; `deep`: it goes far down first.
std::vector<Chunk> random_calls(std::mt19937& random, size_t calls_of_chunk, int chunks, size_t deep) {
  std::vector<Chunk> all;
  std::vector<uint64_t> open;
  uint64_t time = 1'000'000;
  for (int i = 0; i < chunks; ++i) {
    ChunkBuilder chunk(time, 1, all.size());
    for (size_t j = 0; j < calls_of_chunk; ++j) {
      time += 1 + random() % 1000;
      if (open.size() < deep || open.empty() || random() % 2 == 0) {
        open.push_back(kCode + random() % 5 * 16);
        chunk.entry(open.back(), time);
      } else {
        chunk.exit(open.back(), time);
        open.pop_back();
      }
    }
    all.push_back(chunk.close(time));
  }
  return all;
}

TEST(CallDigest, CallsAreThereWholeOrNotAtAll) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 300; ++turn) {
    const std::vector<Chunk> chunks = random_calls(random, 1 + random() % 30, 2 + static_cast<int>(random() % 12), 0);
    std::vector<bool> stored;
    for (size_t i = 0; i < chunks.size(); ++i) stored.push_back(random() % 3 == 0);
    int strays = 0;
    const std::vector<Call> all = calls_of(chunks, &strays), kept = calls_of(keep(chunks, stored), &strays);
    EXPECT_EQ(strays, 0);
    std::map<uint64_t, Call> by_begin;
    for (const Call& call : all) by_begin.emplace(call.begin, call);
    for (const Call& call : kept) {
      EXPECT_EQ(by_begin.at(call.begin), call) << "turn " << turn;
      by_begin.erase(call.begin);
    }
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (!stored[i]) continue;
      RecordCursor in(chunks[i]);
      Record record;
      while (in.next(record))
        for (const auto& [begin, call] : by_begin)
          EXPECT_TRUE(begin != record.time && call.end != record.time) << "turn " << turn << ": missing " << call;
    }
  }
}

TEST(CallDigest, NothingIsTakenWhereNothingIsStored) {
  std::mt19937 random(2);
  const std::vector<Chunk> chunks = random_calls(random, 50, 10, 20);
  EXPECT_TRUE(keep(chunks, std::vector<bool>(chunks.size())).empty());
}

TEST(CallDigest, WhatIsForgottenIsNotInMemory) {
  CallDigest digest;
  const size_t before = digest.bytes();
  ChunkBuilder chunk;
  for (uint64_t i = 0; i < 1000; ++i) chunk.entry(kCode + i, i);
  digest.add(chunk.close(), false);
  EXPECT_GT(digest.bytes(), before + 1000 * sizeof(uint64_t));
  digest.forget();
  EXPECT_EQ(digest.bytes(), before);
}

TEST(CallDigest, ManyOpenCallsTakeSeveralChunks) {
  std::mt19937 random(3);
  const std::vector<Chunk> chunks = random_calls(random, 5000, 6, 20000);
  int strays = 0;
  const std::vector<Chunk> file = keep(chunks, {false, false, false, false, true, true});
  EXPECT_EQ(file.size(), 2u + 4);  // 20,000 entries of two words
  const std::vector<Call> all = calls_of(chunks, &strays), kept = calls_of(file, &strays);
  EXPECT_GE(kept.size(), 16000u);
  for (size_t i = 0; i < 16000; ++i) EXPECT_EQ(kept[i], all[i]);
}

TEST(CallDigest, CallsThatWereEnteredDaysAgo) {
  constexpr uint64_t kDay = uint64_t{86400} * 3'000'000'000;
  std::vector<Chunk> chunks;
  for (uint64_t day = 0; day < 5; ++day) {
    ChunkBuilder chunk(1 + day * kDay, 1, day);
    chunks.push_back(chunk.entry(kCode + day * 16, 1 + day * kDay).close(1 + day * kDay));
  }
  int strays = 0;
  EXPECT_EQ(calls_of(keep(chunks, {false, false, false, false, true}), &strays), calls_of(chunks, &strays));
}

TEST(CallDigest, WhatAJumpLeavesEndsThere) {
  CallDigest digest;
  const Chunk first = ChunkBuilder(100, 1, 0)
                          .full(PENNA_KIND_JUMP, 100, penna_jump{7, 0, PENNA_JUMP_SAVE, 0})
                          .entry(kCode, 110)
                          .entry(kCode + 16, 120)
                          .close(120);
  const Chunk second = ChunkBuilder(130, 1, 1)
                           .full(PENNA_KIND_JUMP, 130, penna_jump{7, 0, PENNA_JUMP_GO, 0})
                           .entry(kCode + 32, 140)
                           .close(140);
  const Chunk third = ChunkBuilder(150, 1, 2).exit(kCode + 32, 150).close(150);
  digest.add(first, true);
  digest.add(second, false);
  std::vector<Chunk> file = digest.take(header_of(third), 1);
  file.insert(file.begin(), first);
  file.push_back(third);
  int strays = 0;
  EXPECT_EQ(calls_of(file, &strays),
            (std::vector<Call>{{kCode, 110, 130}, {kCode + 16, 120, 130}, {kCode + 32, 140, 150}}));
  EXPECT_EQ(strays, 0);
}

TEST(CallDigest, WhereChunksAreMissingWhatIsOpenEnds) {
  CallDigest digest;
  const Chunk first = ChunkBuilder(100, 1, 0).entry(kCode, 110).close(110);
  const Chunk later = ChunkBuilder(200, 1, 5).exit(kCode + 16, 210).entry(kCode + 32, 220).close(220);
  const Chunk last = ChunkBuilder(300, 1, 6).exit(kCode + 32, 310).close(310);
  digest.add(first, true);
  digest.lose();
  digest.add(later, false);
  std::vector<Chunk> file = digest.take(header_of(last), 1);
  file.insert(file.begin(), first);
  file.push_back(last);
  int strays = 0;
  EXPECT_EQ(calls_of(file, &strays), (std::vector<Call>{{kCode, 110, 110}, {kCode + 32, 220, 310}}));
  EXPECT_EQ(strays, 0);
}

}  // namespace
}  // namespace penna::call_digest_test

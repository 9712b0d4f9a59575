// SPDX-License-Identifier: MIT
// RecordingCopy: a copy contains what the recording contains, a second recording is added under other numbers, and what
// a time range leaves out is counted.
#include "collect/recording_copy.h"

#include <gtest/gtest.h>

#include "../recording/sample.h"

namespace penna::recording_copy_test {
namespace {

class RecordingCopyTest : public testing::Test {
 protected:
  Recording sample() {
    auto writer = RecordingWriter::create(dir_.file("sample.penna"));
    EXPECT_TRUE(writer);
    write_sample(*writer);
    EXPECT_TRUE(writer->finish());
    auto recording = Recording::open(dir_.file("sample.penna"));
    EXPECT_TRUE(recording);
    return std::move(*recording);
  }
  // `times`: how often it is added.
  Recording copied(const Recording& from, int times, const CopiedTime& time = {}) {
    const std::string path = dir_.file("copy.penna");
    auto writer = RecordingWriter::create(path);
    EXPECT_TRUE(writer);
    EXPECT_TRUE(writer->write_session(from.session()));
    RecordingCopy copy(*writer);
    for (int i = 0; i < times; ++i) EXPECT_TRUE(copy.add(from, time));
    EXPECT_TRUE(copy.missing().empty());
    EXPECT_TRUE(writer->write_collector(from.collector()));
    EXPECT_TRUE(writer->finish());
    auto recording = Recording::open(path);
    EXPECT_TRUE(recording);
    return std::move(*recording);
  }

  TempDir dir_;
};

void expect_same_process(const Recording& a, uint32_t in_a, const Recording& b, uint32_t in_b) {
  const RecordedProcess &one = a.processes()[in_a], &other = b.processes()[in_b];
  EXPECT_EQ(one.process.pid, other.process.pid);
  EXPECT_EQ(one.process.command, other.process.command);
  EXPECT_EQ(one.modules.size(), other.modules.size());
  EXPECT_EQ(one.sites.size(), other.sites.size());
  EXPECT_EQ(one.threads.size(), other.threads.size());
  EXPECT_EQ(one.end.has_value(), other.end.has_value());
  ASSERT_EQ(a.stack_node_count(in_a), b.stack_node_count(in_b));
  for (auto id = a.next_stack_node(in_a, 1); id; id = a.next_stack_node(in_a, *id + 1)) {
    const auto node = a.stack_node(in_a, *id), same = b.stack_node(in_b, *id);
    ASSERT_TRUE(same);
    EXPECT_EQ(node->pc, same->pc);
    EXPECT_EQ(node->parent, same->parent);
    EXPECT_EQ(node->depth, same->depth);
    EXPECT_EQ(node->end, same->end);
    EXPECT_EQ(node->cut, same->cut);
  }
}

TEST_F(RecordingCopyTest, HoldsAllThatIsThere) {
  const Recording from = sample(), copy = copied(from, 1);
  EXPECT_FALSE(copy.damage().any()) << copy.damage().text();
  ASSERT_EQ(from.processes().size(), copy.processes().size());
  for (uint32_t process = 0; process < from.processes().size(); ++process)
    expect_same_process(from, process, copy, process);
  ASSERT_EQ(from.threads().size(), copy.threads().size());
  for (size_t i = 0; i < from.threads().size(); ++i) EXPECT_EQ(from.threads()[i].name, copy.threads()[i].name);
  EXPECT_EQ(from.names().size(), copy.names().size());
  ASSERT_EQ(from.chunks().size(), copy.chunks().size());
  std::vector<uint8_t> bytes, same;
  for (size_t i = 0; i < from.chunks().size(); ++i) {
    ASSERT_TRUE(from.read_chunk(from.chunks()[i], bytes));
    ASSERT_TRUE(copy.read_chunk(copy.chunks()[i], same));
    EXPECT_EQ(bytes, same);
  }
}

TEST_F(RecordingCopyTest, NumbersTheProcessesOfTheNextOneBehind) {
  const Recording from = sample(), copy = copied(from, 2);
  const auto processes = static_cast<uint32_t>(from.processes().size());
  ASSERT_EQ(copy.processes().size(), 2 * processes);
  for (uint32_t process = 0; process < processes; ++process) {
    expect_same_process(from, process, copy, process);
    expect_same_process(from, process, copy, processes + process);
  }
  EXPECT_EQ(copy.chunks().size(), 2 * from.chunks().size());
}

TEST_F(RecordingCopyTest, CountsTheChunksOfOtherTimes) {
  const Recording from = sample();
  uint64_t begin = UINT64_MAX, end = 0;
  for (const ChunkRef& chunk : from.chunks()) {
    begin = std::min(begin, chunk.time_begin);
    end = std::max(end, chunk.time_end);
  }
  const CopiedTime time{begin + (end - begin) / 2, UINT64_MAX};
  const Recording copy = copied(from, 1, time);
  size_t kept = 0;
  for (const ChunkRef& chunk : from.chunks()) kept += time.holds(chunk);
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, from.chunks().size());
  EXPECT_EQ(copy.chunks().size(), kept);
  for (uint32_t thread = 0; thread < from.threads().size(); ++thread) {
    if (!from.threads()[thread].has_health) continue;
    EXPECT_EQ(copy.threads()[thread].health.skipped - from.threads()[thread].health.skipped,
              from.chunks(thread).size() - copy.chunks(thread).size());
  }
}

}  // namespace
}  // namespace penna::recording_copy_test

// SPDX-License-Identifier: MIT
// Live bytes over time: no peak is missed, and the parts of each step sum up to the live bytes, to the byte.
#include "view/answers/live_heap.h"

#include <gmock/gmock.h>

#include <optional>
#include <random>

#include "../report/sample_recording.h"
#include "column_reader.h"

namespace penna::live_heap_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class LiveHeapTest : public testing::Test {
 protected:
  LiveHeapTest() {
    process_ = build_.process(100, 1, 1000);
    build_.module(process_, sample_module());
    from_work_ = build_.stack(process_, 1, {kSampleCode + 0x120, kSampleCode + 0x10});
    from_main_ = build_.stack(process_, 3, {kSampleCode + 0x10});
  }
  ColumnReader ask(const LiveHeapRequest& request) {
    if (!recording_) recording_ = build_.open();
    Names names(*recording_, symbols_);
    return ColumnReader(live_heap(*recording_, names, request));
  }

  RecordingBuilder build_;
  SampleSymbols symbols_;
  std::optional<Recording> recording_;
  uint32_t process_ = 0, from_work_ = 0, from_main_ = 0;
};

TEST_F(LiveHeapTest, AShortPeakIsThatOfItsStep) {
  ThreadBuilder& thread = build_.thread(process_, 1);
  thread.alloc(0x5000, 10, 1100, from_main_);
  thread.alloc(0x6000, 500, 1210, from_work_);
  thread.free(0x6000, 1220);
  thread.alloc(0x7000, 5, 1390, from_work_);
  const ColumnReader read = ask({.view = {0, 400, 4}, .begin = 1000});
  EXPECT_THAT(read.column<double>("total"), ElementsAre(0, 10, 510, 15));
  EXPECT_THAT(read.column<double>("live"), ElementsAre(0, 10, 510, 15));
  EXPECT_THAT(read.column<double>("time"), ElementsAre(0, 101, 211, 391)) << "right behind the event";
  EXPECT_THAT(read.header(), HasSubstr(R"x("series":["work(int)","main"])x"));
  EXPECT_THAT(read.column<double>("bytes"), ElementsAre(0, 0, 500, 5, 0, 10, 10, 10));
  EXPECT_THAT(read.column<double>("rest"), Each(0));
  const ColumnReader one = ask({.view = {0, 400, 4}, .series = 1, .begin = 1000});
  EXPECT_THAT(one.column<double>("rest"), ElementsAre(0, 10, 10, 10));
  EXPECT_THAT(one.header(), HasSubstr(R"("others":1)"));
}

TEST_F(LiveHeapTest, APartBeginsWithWhatWasThere) {
  ThreadBuilder& thread = build_.thread(process_, 1);
  thread.alloc(0x5000, 64, 1100, from_main_);
  thread.free(0x5000, 1800);
  const ColumnReader read = ask({.view = {300, 900, 3}, .by_stack = true, .begin = 1000});
  EXPECT_THAT(read.column<double>("total"), ElementsAre(64, 64, 64)) << "the last step begins with it";
  EXPECT_THAT(ask({.view = {850, 900, 2}, .begin = 1000}).column<double>("total"), ElementsAre(0, 0));
}

TEST_F(LiveHeapTest, PartsAddUpToTheLiveBytesOfAnyStep) {
  ThreadBuilder& thread = build_.thread(process_, 1);
  std::mt19937 random(7);
  std::vector<uint64_t> live;
  uint64_t most = 0, now = 0;
  for (uint64_t time = 1000; time < 4000; ++time) {
    if (random() % 3 != 0 || live.empty()) {
      live.push_back(0x10000 + time * 64);
      thread.alloc(live.back(), 16, time, random() % 2 == 0 ? from_work_ : from_main_);
      most = std::max(most, now += 16);
    } else {
      thread.free(live.back(), time);
      live.pop_back();
      now -= 16;
    }
  }
  const ColumnReader read = ask({.view = {0, 3000, 77}, .begin = 1000});
  const std::vector<double> total = read.column<double>("total"), bytes = read.column<double>("bytes");
  ASSERT_EQ(bytes.size(), 2 * total.size());
  for (size_t i = 0; i < total.size(); ++i) EXPECT_EQ(bytes[i] + bytes[total.size() + i], total[i]) << i;
  EXPECT_EQ(*std::max_element(total.begin(), total.end()), static_cast<double>(most));
  EXPECT_EQ(total, read.column<double>("live"));
}

}  // namespace
}  // namespace penna::live_heap_test

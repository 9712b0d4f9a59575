// SPDX-License-Identifier: MIT
// Calls in time order: adjacent ones are merged, later ones stay separate, and no time is lost.
#include "view/answers/time_order.h"

#include <gmock/gmock.h>

#include "../report/sample_recording.h"
#include "column_reader.h"

namespace penna::time_order_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TimeOrderTest : public testing::Test {
 protected:
  TimeOrderTest() {
    const uint32_t process = build_.process(100, 1, 1000);
    build_.module(process, sample_module());
    thread_ = &build_.thread(process, 1);
  }
  void call(uint64_t function, uint64_t begin, uint64_t end) {
    thread_->enter(function, begin);
    thread_->exit(function, end);
  }
  ColumnReader read(int64_t smallest, const std::string& thread_name = "") {
    if (!recording_) recording_ = build_.open();
    Names names(*recording_, symbols_);
    TimeOrder tree(smallest);
    tree.read(*recording_, names, 0, thread_name);
    return ColumnReader(tree.answer(ids_));
  }
  std::vector<std::string> names_of(const ColumnReader& answer) {
    std::vector<std::string> names;
    for (const uint32_t id : answer.column<uint32_t>("name")) names.push_back(ids_.name(id));
    return names;
  }

  static constexpr uint64_t kMain = kSampleCode, kWork = kSampleCode + 0x100, kGrow = kSampleCode + 0x200;
  RecordingBuilder build_;
  SampleSymbols symbols_;
  ThreadBuilder* thread_;
  std::optional<Recording> recording_;
  NameIds ids_;
};

TEST_F(TimeOrderTest, NeighboursAreOneAndWhatComesLaterIsNot) {
  thread_->enter(kMain, 1000);
  call(kWork, 1010, 1030);
  call(kWork, 1040, 1050);
  call(kGrow, 1060, 1080);
  call(kWork, 1090, 1095);
  thread_->exit(kMain, 1100);
  const ColumnReader answer = read(1);
  EXPECT_THAT(names_of(answer), ElementsAre("main", "work(int)", "grow", "work(int)"));
  EXPECT_THAT(answer.column<int32_t>("parent"), ElementsAre(-1, 0, 0, 0));
  EXPECT_THAT(answer.column<double>("value"), ElementsAre(100, 30, 20, 5));
  EXPECT_THAT(answer.column<double>("self"), ElementsAre(45, 30, 20, 5));
  EXPECT_THAT(answer.column<double>("count"), ElementsAre(1, 2, 1, 1));
  EXPECT_THAT(answer.header(), HasSubstr(R"("total":100,"left_out":0)"));
}

TEST_F(TimeOrderTest, WhatIsTooShortIsInItsCallerAndTold) {
  thread_->enter(kMain, 1000);
  thread_->enter(kWork, 1010);
  call(kGrow, 1011, 1015);
  thread_->exit(kWork, 1018);
  call(kGrow, 1020, 1060);
  thread_->exit(kMain, 1100);
  const ColumnReader answer = read(10);
  EXPECT_THAT(names_of(answer), ElementsAre("main", "grow"));
  EXPECT_THAT(answer.column<double>("self"), ElementsAre(60, 40));
  EXPECT_THAT(answer.header(), HasSubstr(R"("total":100,"left_out":8)")) << "of what is in it nothing is told twice";
}

TEST_F(TimeOrderTest, ManyShortNeighboursAreLongTogether) {
  thread_->enter(kMain, 1000);
  for (uint64_t i = 0; i < 50; ++i) call(kWork, 1010 + 10 * i, 1012 + 10 * i);
  thread_->exit(kMain, 2000);
  const ColumnReader answer = read(100, "worker");
  EXPECT_THAT(names_of(answer), ElementsAre("worker", "main", "work(int)"));
  EXPECT_THAT(answer.column<double>("value"), ElementsAre(1000, 1000, 100));
}

TEST_F(TimeOrderTest, WhatIsVeryDeepIsInItsCaller) {
  for (uint64_t i = 0; i < 700; ++i) thread_->enter(kWork, 1000 + i);
  for (uint64_t i = 0; i < 700; ++i) thread_->exit(kWork, 2000 + i);
  const ColumnReader answer = read(1);
  EXPECT_EQ(answer.column<double>("value").size(), TimeOrder::kMostDepths);
  EXPECT_THAT(answer.header(), HasSubstr(R"("total":1699,)"));
}

}  // namespace
}  // namespace penna::time_order_test

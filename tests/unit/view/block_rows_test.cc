// SPDX-License-Identifier: MIT
// The lives of blocks: each block is a row or left out, whoever freed it and however often it was moved.
#include "view/answers/block_rows.h"

#include <gmock/gmock.h>

#include <optional>

#include "../report/sample_recording.h"

namespace penna::block_rows_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class BlockRowsTest : public testing::Test {
 protected:
  BlockRowsTest() {
    process_ = build_.process(100, 1, 1000);
    build_.module(process_, sample_module());
    from_work_ = build_.stack(process_, 1, {kSampleCode + 0x120, kSampleCode + 0x10});
    from_main_ = build_.stack(process_, 3, {kSampleCode + 0x10});
  }
  std::string rows(BlockRowsRequest request) {
    if (!recording_) recording_ = build_.open();
    Names names(*recording_, symbols_);
    request.begin = 1000;
    const Result<std::string> text =
        block_rows(*recording_, names, request, [](uint32_t thread) { return "thread " + std::to_string(thread); });
    return text ? *text : text.error().text;
  }

  RecordingBuilder build_;
  SampleSymbols symbols_;
  std::optional<Recording> recording_;
  uint32_t process_ = 0, from_work_ = 0, from_main_ = 0;
};

TEST_F(BlockRowsTest, ABlockIsFollowedToWhereAnotherThreadFreesIt) {
  build_.thread(process_, 1).alloc(0x5000, 100, 1100, from_work_);
  build_.thread(process_, 2).free(0x5000, 1400);
  const std::string text = rows({});
  EXPECT_THAT(text, HasSubstr(R"x("cells":[100,100,300,0,"thread 0","thread 1","work(int)"])x"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"x({"what":"allocated","time_ns":100,"thread":0,"bytes":100,"address":"0x5000","function":"work(int)")x"));
  EXPECT_THAT(text, HasSubstr(R"x({"what":"freed","time_ns":400,"thread":1,"bytes":100,"address":"0x5000"})x"));
  EXPECT_THAT(text, HasSubstr(R"("end":"freed")"));
}

TEST_F(BlockRowsTest, AReallocMovesABlockAndDoesNotEndIt) {
  ThreadBuilder& thread = build_.thread(process_, 1);
  thread.alloc(0x5000, 10, 1100, from_main_);
  thread.free(0x5000, 1200, PENNA_FAMILY_REALLOC);
  thread.alloc(0x6000, 20, 1210, from_work_, PENNA_FAMILY_REALLOC);
  thread.free(0x7000, 1250);                                        // of a block that was there before
  thread.alloc(0x8000, 5, 1300, from_main_, PENNA_FAMILY_REALLOC);  // realloc(NULL, 5): no move
  thread.free(0x8000, 1310);
  thread.alloc(0x9000, 6, 1320, from_main_, PENNA_FAMILY_REALLOC);  // likewise
  const std::string text = rows({});
  EXPECT_THAT(text, HasSubstr(R"("title":"3 blocks")"));
  EXPECT_THAT(text, HasSubstr(R"x("cells":[100,20,null,1,"thread 0",null,"work(int)"])x"));
  EXPECT_THAT(text, HasSubstr(R"("what":"moved","time_ns":210,"thread":0,"bytes":20,"address":"0x6000")"));
  EXPECT_THAT(text, HasSubstr(R"x("cells":[300,5,10,0,"thread 0","thread 0","main"])x"));
  EXPECT_THAT(text, HasSubstr(R"x("cells":[320,6,null,0,"thread 0",null,"main"])x"));
}

TEST_F(BlockRowsTest, OnlyTheLastMovesAreKept) {
  ThreadBuilder& thread = build_.thread(process_, 1);
  thread.alloc(0x5000, 1, 1100, from_main_);
  for (uint32_t i = 1; i <= 20; ++i) {
    thread.free(0x5000 + (i - 1) * 0x100, 1100 + 10 * i, PENNA_FAMILY_REALLOC);
    thread.alloc(0x5000 + i * 0x100, i, 1101 + 10 * i, from_work_, PENNA_FAMILY_REALLOC);
  }
  const std::string text = rows({});
  EXPECT_THAT(text, HasSubstr(R"("title":"1 block")"));
  EXPECT_THAT(text, HasSubstr(R"("moves_left_out":12)"));
  EXPECT_THAT(text, HasSubstr(R"x("cells":[100,20,null,20,)x"));
}

TEST_F(BlockRowsTest, TheRequestChooses) {
  ThreadBuilder& first = build_.thread(process_, 1);
  first.alloc(0x5000, 11, 1100, from_main_);
  first.alloc(0x6000, 22, 1200, from_work_);
  first.free(0x6000, 1500);
  build_.thread(process_, 2).alloc(0x7000, 33, 1300, from_work_);
  const auto has = [&](const BlockRowsRequest& request, const char* sizes) {
    const std::string text = rows(request);
    for (const char* size : {"11", "22", "33"})
      EXPECT_EQ(text.find(std::string("\"bytes\":") + size) != text.npos,
                std::string(sizes).find(size) != std::string::npos)
          << size << " in " << text;
  };
  has({.of = {.t0 = 200, .t1 = 300}}, "22");
  has({.of = {.threads = {1}}}, "33");
  has({.instant = 201}, "11 22");
  has({.instant = 501}, "11 33");
  has({.leaked = true}, "11 33");
  has({.function = "work(int)"}, "22 33");
  has({.instant = 301, .function = "work(int)"}, "22 33");
  has({.sort = "time_ns:asc", .rows = 1}, "11");
  EXPECT_THAT(rows({.sort = "time_ns:asc", .rows = 1}), HasSubstr(R"("rows_left_out":2)"));
  EXPECT_THAT(rows({.sort = "colour"}), HasSubstr("colour"));
  const TableDetail of_work{"work(int)", "(app.c:20) [program]"}, of_main{"main", "(app.c:10) [program]"};
  using Frames = std::vector<TableDetail>;
  has({.stack = stack_id(Frames{of_work, of_main})}, "22 33");
  has({.stack = stack_id(Frames{of_main})}, "11");
  EXPECT_NE(stack_id(Frames{TableDetail{"a", "b"}}), stack_id(Frames{TableDetail{"ab", ""}}));
}

TEST_F(BlockRowsTest, AFreeThatIsMissingIsTold) {
  ThreadBuilder& thread = build_.thread(process_, 1);
  thread.alloc(0x5000, 10, 1100, from_main_);
  thread.alloc(0x5000, 20, 1200, from_main_);
  const std::string text = rows({});
  EXPECT_THAT(text, HasSubstr(R"("end":"unknown")"));
  EXPECT_THAT(text, HasSubstr(R"("end":"live")"));
  EXPECT_THAT(rows({.leaked = true}), Not(HasSubstr(R"("end":"unknown")")));
}

}  // namespace
}  // namespace penna::block_rows_test

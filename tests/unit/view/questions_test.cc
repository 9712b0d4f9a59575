// SPDX-License-Identifier: MIT
// Questions about a small recording: what is refused, the effect of untrusted names, and that the answers are
// consistent.
#include "view/answers/questions.h"

#include <gmock/gmock.h>

#include <functional>
#include <future>
#include <thread>

#include "../report/sample_recording.h"
#include "column_reader.h"
#include "report/reports.h"
#include "view/data/view_data.h"

namespace penna::questions_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kHostile = "</script><img src=x onerror=alert(1)>";

class QuestionsTest : public testing::Test {
 protected:
  QuestionsTest()
      : recording_(sample_recording(build_)),
        names_(recording_, symbols_),
        data_(recording_, names_),
        questions_(data_,
                   [](const Summary&) {
                     return std::vector<TableName>{{"threads", "threads"}};
                   },
                   {[&](const ReportRequest& request) { return report(request); },
                    [&](const FoldRequest&, const StackVisitor& visit) {
                      for (const auto& [frames, value] : stacks_)
                        visit(std::vector<std::string_view>(frames.begin(), frames.end()), value);
                      return ok();
                    }}) {}

  // The error's sentence, or the body.
  std::string ask(const std::string& name, const HttpParameters& parameters = {}, int status = 200) {
    const HttpAnswer answer = questions_.answer(name, parameters);
    EXPECT_EQ(answer.status, status) << name << ": " << answer.body;
    return answer.body;
  }

  std::optional<Error> trouble_;
  std::function<void()> during_report_ = [] {};
  std::vector<ReportRequest> requests_;
  std::vector<std::pair<std::vector<std::string>, uint64_t>> stacks_ = {{{"main", kHostile}, 40}};

  // The number that the page knows a name by.
  std::string id_of(const std::string& name) {
    const NameIds ids = questions_.ids();
    uint32_t id = 0;
    while (id < ids.size() && ids.name(id) != name) ++id;
    return std::to_string(id);
  }

 private:
  Result<Report> report(const ReportRequest& request) {
    requests_.push_back(request);
    during_report_();
    if (trouble_) return *trouble_;
    return threads_report(recording_, *data_.summary());
  }

  RecordingBuilder build_;
  Recording recording_;
  SampleSymbols symbols_;
  Names names_;
  ViewData data_;
  Questions questions_;
};

TEST_F(QuestionsTest, WhatIsNotAskedRightIsRefusedInASentence) {
  EXPECT_THAT(ask("nothing", {}, 404), StartsWith(R"({"error":)"));
  EXPECT_THAT(ask("", {}, 404), StartsWith(R"({"error":)"));
  const std::pair<const char*, HttpParameters> wrong[] = {{"slices", {}},
                                                          {"slices", {{"thread", "2"}}},
                                                          {"slices", {{"thread", "0"}, {"px", "0"}}},
                                                          {"slices", {{"thread", "0"}, {"px", "10001"}}},
                                                          {"waits", {{"thread", "0"}, {"t0", "7"}, {"t1", "7"}}},
                                                          {"points", {{"thread", "0"}, {"t0", "9223372036854775807"}}},
                                                          {"counters", {{"t0", "-1"}}},
                                                          {"table", {}},
                                                          {"table", {{"name", "../threads"}}},
                                                          {"table", {{"name", "threads"}, {"top", "100001"}}},
                                                          {"flame", {{"weight", "love"}}},
                                                          {"flame", {{"weight", "time"}, {"reverse", "2"}}},
                                                          {"flame", {{"weight", "calls"}, {"time_order", "1"}}},
                                                          {"diff", {{"of", "calls"}}},
                                                          {"flame", {{"weight", "time"}, {"compare", "1"}}},
                                                          {"find", {}},
                                                          {"find", {{"q", std::string(501, 'x')}}},
                                                          {"names", {{"from", "-1"}}},
                                                          {"instance", {{"name", "x"}}}};
  for (const auto& [name, parameters] : wrong)
    EXPECT_THAT(ask(name, parameters, 400), StartsWith(R"({"error":)")) << name;
  EXPECT_TRUE(requests_.empty()) << "a refused question is not worked out";
}

TEST_F(QuestionsTest, ATableIsAskedForAsGiven) {
  ask("table", {{"name", "threads"}, {"t0", "5"}, {"t1", "90"}, {"thread", "1"}, {"sort", "tid:asc"}, {"top", "7"}});
  ASSERT_EQ(requests_.size(), 1u);
  const ReportRequest& request = requests_[0];
  EXPECT_EQ(request.table, "threads");
  EXPECT_EQ(request.of.t0, 5);
  EXPECT_EQ(request.of.t1, 90);
  EXPECT_THAT(request.of.threads, ElementsAre(1));
  EXPECT_EQ(request.sort, "tid:asc");
  EXPECT_EQ(request.rows, 7u);
}

TEST_F(QuestionsTest, SeveralThreadsAreAskedForAtOnce) {
  ask("table", {{"name", "threads"}, {"thread", "1,0"}});
  EXPECT_THAT(requests_.at(0).of.threads, ElementsAre(1, 0));
  for (const char* wrong : {"", "2", "-1", "0,", ",0", "0,2", "0 1", "0,1,x", "99999999999"})
    EXPECT_THAT(ask("table", {{"name", "threads"}, {"thread", wrong}}, 400), HasSubstr("thread is the id")) << wrong;
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(QuestionsTest, WhatAReportRefusesIsTold) {
  trouble_ = Error{"there is no column 'love'"};
  EXPECT_THAT(ask("table", {{"name", "threads"}}, 400), HasSubstr("there is no column 'love'"));
  EXPECT_THAT(ask("summary"), HasSubstr("there is no column 'love'")) << "the summary says that its tables are missing";
}

TEST_F(QuestionsTest, NamesOfStrangersAreTextOfJson) {
  EXPECT_THAT(ask("flame", {{"weight", "time"}}), StartsWith("PNV1"));
  EXPECT_THAT(ask("names"), HasSubstr(std::string("\"") + kHostile + "\""));
}

TEST_F(QuestionsTest, CallersAndCalleesHaveWhatIsTooSmallInTheWhole) {
  constexpr int kWays = 20'000;  // each far below what a node of the whole needs
  stacks_ = {{{"main", "leaf", "leaf", "inner"}, 9}};
  for (int i = 0; i < kWays; ++i) stacks_.push_back({{"main", "way " + std::to_string(i), "leaf"}, 1});
  EXPECT_THAT(ask("flame", {{"weight", "calls"}}), HasSubstr(R"("left_out":20000)"));
  for (const char* reverse : {"0", "1"}) {
    const ColumnReader half(ask("flame", {{"weight", "calls"}, {"around", id_of("leaf")}, {"reverse", reverse}}));
    EXPECT_THAT(half.header(), HasSubstr(R"("total":20009)")) << "of recursion, the outermost one";
    EXPECT_EQ(half.column<double>("value").front(), kWays + 9);
    EXPECT_EQ(half.column<int32_t>("parent").front(), -1);
  }
  EXPECT_THAT(ask("flame", {{"weight", "calls"}, {"around", "0"}}), HasSubstr(R"("total":0)"));
  for (const HttpParameters& wrong : {HttpParameters{{"weight", "calls"}, {"around", "99999"}},
                                      HttpParameters{{"weight", "time"}, {"around", "0"}, {"time_order", "1"}}})
    ask("flame", wrong, 400);
}

TEST_F(QuestionsTest, NamesKeepTheirNumbers) {
  const std::string before = ask("names");
  ask("slices", {{"thread", "0"}});
  ask("slices", {{"thread", "1"}});
  const std::string after = ask("names");
  const std::string known = before.substr(0, before.find(']'));
  EXPECT_EQ(after.substr(0, known.size()), known) << "names are only added";
  EXPECT_GT(after.size(), before.size());
  EXPECT_THAT(ask("names", {{"from", "4294967295"}}), HasSubstr(R"("names":[])"));
}

TEST_F(QuestionsTest, WhatIsAskedForDoesNotWaitForTheOverview) {
  std::promise<void> begun, answered;
  during_report_ = [&] {
    begun.set_value();
    answered.get_future().wait();
  };
  std::thread overview([&] { EXPECT_THAT(ask("summary"), HasSubstr("sentences")); });
  begun.get_future().wait();
  EXPECT_THAT(ask("flame", {{"weight", "time"}}), StartsWith("PNV1"));  // would never come
  answered.set_value();
  overview.join();
}

TEST_F(QuestionsTest, BrowsersAskAtTheSameTime) {
  const std::string wanted = ask("slices", {{"thread", "0"}, {"px", "50"}});
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) EXPECT_EQ(ask("slices", {{"thread", "0"}, {"px", "50"}}), wanted);
    });
  for (std::thread& one : threads) one.join();
}

}  // namespace
}  // namespace penna::questions_test

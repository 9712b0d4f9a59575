// SPDX-License-Identifier: MIT
// Latency: a hit belongs to at most one row; what has no partner is counted.
#include "view/answers/latency.h"

#include <gmock/gmock.h>

#include "../report/sample_recording.h"

namespace penna::latency_test {
namespace {

using testing::HasSubstr;

class LatencyTest : public testing::Test {
 protected:
  LatencyTest() : recording_(build()), names_(recording_, symbols_) {}

  std::string rows(LatencyRequest request) {
    request.from = "shop:order", request.to = "shop:done";
    const Result<std::string> text =
        latency_rows(recording_, names_, request, [](uint32_t thread) { return "thread " + std::to_string(thread); });
    return text ? *text : text.error().text;
  }
  static LatencyRequest by(const char* from_key, const char* to_key, const char* sort = "") {
    LatencyRequest request;
    request.from_key = from_key, request.to_key = to_key, request.sort = sort;
    return request;
  }
  Recording build() {
    const uint32_t process = build_.process(100, 1, 1000);
    add_site(process, 1, "order", {{PENNA_ARG_INT, "id"}});
    add_site(process, 2, "done", {{PENNA_ARG_INT, "code"}, {PENNA_ARG_INT, "order"}});
    ThreadBuilder& first = build_.thread(process, 1);
    for (const auto& [time, id] : {std::pair<uint64_t, uint64_t>{1000, 7}, {1100, 8}, {1200, 8}, {9000, 9}})
      first.point(1, time, {id});
    ThreadBuilder& second = build_.thread(process, 2);
    for (const auto& [time, id] : {std::pair<uint64_t, uint64_t>{1500, 8}, {3000, 7}, {4000, 7}})
      second.point(2, time, {0, id});
    return build_.open();
  }

  RecordingBuilder build_;
  SampleSymbols symbols_;
  Recording recording_;
  Names names_;

 private:
  void add_site(uint32_t process, uint32_t id, const char* name, std::vector<SiteArgument> arguments) {
    Site site;
    site.id = id;
    site.provider = "shop";
    site.name = name;
    site.arguments = std::move(arguments);
    build_.site(process, site);
  }
};

TEST_F(LatencyTest, TheLastHitWithTheKeyCountsAndIsUsedUp) {
  const std::string text = rows(by("id", "order"));
  EXPECT_THAT(text, HasSubstr(R"("title":"2 from shop:order to shop:done")"));
  EXPECT_THAT(text, HasSubstr(R"("key":"key","title":"id","kind":"number")")) << "9 comes before 10";
  // The longest first: 7 from 1000 to 3000, then 8 from 1200 to 1500.
  const size_t seven = text.find(R"([1000,2000,7,"thread 0","thread 1"])"),
               eight = text.find(R"([1200,300,8,"thread 0","thread 1"])");
  EXPECT_LT(seven, eight);
  EXPECT_NE(eight, std::string::npos) << text;
  EXPECT_THAT(text, HasSubstr("2 hits of shop:order had no shop:done after them, 1 of shop:done had no shop:order"));
  EXPECT_THAT(text, HasSubstr(R"("histogram")"));
}

TEST_F(LatencyTest, WithoutArgumentsTheThreadIsTheKey) {
  const std::string text = rows({});
  EXPECT_THAT(text, HasSubstr(R"("title":"0 from shop:order to shop:done")"));
  EXPECT_THAT(text, HasSubstr("4 hits of shop:order had no shop:done after them, 3 of shop:done had no shop:order"));
}

TEST_F(LatencyTest, AnArgumentThatThePointDoesNotHave) {
  EXPECT_EQ(rows(by("number", "order")), "shop:order has no argument number");
  EXPECT_EQ(rows(by("id", "id")), "shop:done has no argument id");
  EXPECT_THAT(rows(by("id", "order", "nothing")), HasSubstr("nothing"));
}

}  // namespace
}  // namespace penna::latency_test

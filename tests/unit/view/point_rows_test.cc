// SPDX-License-Identifier: MIT
// The hits of a point: each is a row or left out, numbers are unchanged, a histogram counts each once.
#include "view/answers/point_rows.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include "../report/sample_recording.h"
#include "column_reader.h"
#include "view/answers/point_curve.h"

namespace penna::point_rows_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kLarge = 0xffff'ffff'ffff'fff0;

// Two places that have the name "db:query", with one argument in common, and another point.
class PointRowsTest : public testing::Test {
 protected:
  PointRowsTest() : recording_(build()), names_(recording_, symbols_) {}

  std::string rows(const PointRowsRequest& request) {
    const Result<std::string> text =
        point_rows(recording_, names_, request, [](uint32_t thread) { return "thread " + std::to_string(thread); });
    return text ? *text : text.error().text;
  }
  Recording build() {
    const uint32_t process = build_.process(100, 1, 1000);
    add_site(process, 1, "query", {{PENNA_ARG_INT, "rows"}, {PENNA_ARG_FLOAT, "share"}});
    add_site(process, 2, "query", {{PENNA_ARG_UINT, "id"}, {PENNA_ARG_INT, "rows"}});
    add_site(process, 3, "other", {});
    add_site(process, 4, "large", {{PENNA_ARG_UINT, "hash"}, {PENNA_ARG_FLOAT, "rate"}});
    ThreadBuilder& first = build_.thread(process, 1);
    for (uint64_t i = 0; i < 10; ++i) first.point(1, 1000 + 100 * i, {i, std::bit_cast<uint64_t>(0.5 * double(i))});
    first.point(3, 5000);
    ThreadBuilder& second = build_.thread(process, 2);
    second.point(2, 1050, {kLarge, uint64_t(-7)});
    second.point(2, 3000, {1, 99});
    second.point(4, 3100, {kLarge, std::bit_cast<uint64_t>(std::numeric_limits<double>::infinity())});
    second.point(4, 3200, {UINT64_C(1) << 63, std::bit_cast<uint64_t>(std::nan(""))});
    second.point(4, 3300, {INT64_MAX, std::bit_cast<uint64_t>(2.5)});
    second.point(4, 3400, {7, std::bit_cast<uint64_t>(-std::numeric_limits<double>::infinity())});
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
    site.provider = "db";
    site.name = name;
    site.file = "app.c";
    site.line = id;
    site.arguments = std::move(arguments);
    build_.site(process, site);
  }
};

TEST_F(PointRowsTest, NamesComeWithTheirHitsAndAllTheirArguments) {
  const std::vector<NamedPoint> points = point_names(recording_, names_);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].name, "db:query");
  EXPECT_EQ(points[0].hits, 12u);
  EXPECT_THAT(points[0].arguments, ElementsAre("rows", "share", "id"));
  EXPECT_EQ(points[2].hits, 1u);
}

TEST_F(PointRowsTest, RowsAreInTimeOrderAndWhatAPlaceDoesNotHaveIsEmpty) {
  const std::string text = rows({.point = "db:query", .rows = 3, .begin = 1000});
  EXPECT_THAT(text, HasSubstr(R"("rows":[{"cells":[0,"thread 0",0,0,null],"thread":0},)"
                              R"({"cells":[50,"thread 1",-7,null,"18446744073709551600"],"thread":1},)"
                              R"({"cells":[100,"thread 0",1,0.5,null],"thread":0}])"));
  EXPECT_THAT(text, HasSubstr(R"("rows_left_out":9)"));
  EXPECT_THAT(text, HasSubstr(R"("title":"12 hits of db:query")"));
}

TEST_F(PointRowsTest, TheMostOfAllHitsComeFirst) {
  const std::string text = rows({.point = "db:query", .sort = "rows:desc", .rows = 2, .begin = 1000});
  EXPECT_THAT(text, HasSubstr(R"("rows":[{"cells":[2000,"thread 1",99,null,1],"thread":1},{"cells":[900,)"))
      << "a column with a number that a browser cannot hold is shown, not rounded";
}

// Text in JSON, for a browser would round it; but a number in all else.
TEST_F(PointRowsTest, LargeNumbersAreSortedAndCountedAsNumbers) {
  const std::string rising = rows({.point = "db:large", .sort = "hash:asc", .histogram = "hash", .begin = 3000});
  EXPECT_THAT(rising, HasSubstr(R"("key":"hash","title":"hash","kind":"number")"));
  EXPECT_THAT(rising, HasSubstr(R"([{"cells":[400,"thread 1",7,"-inf"],"thread":1},)"
                                R"({"cells":[300,"thread 1","9223372036854775807",2.5],"thread":1},)"
                                R"({"cells":[200,"thread 1","9223372036854775808","nan"],"thread":1},)"
                                R"({"cells":[100,"thread 1","18446744073709551600","inf"],"thread":1}])"));
  EXPECT_THAT(rising, HasSubstr(R"("others":0)"));
  const std::string rates = rows({.point = "db:large", .sort = "rate:asc", .rows = 3, .begin = 3000});
  EXPECT_THAT(rates, HasSubstr(R"("rows":[{"cells":[400,)")) << "minus infinity is the least";
  EXPECT_THAT(rates, HasSubstr(R"("inf"],"thread":1}],"rows_left_out":1)")) << "what is not a number is the last";
}

TEST_F(PointRowsTest, AHistogramCountsEachHitOnce) {
  const std::string text = rows({.point = "db:query", .rows = 1, .histogram = "rows"});
  const size_t at = text.find("\"counts\":[");
  ASSERT_NE(at, std::string::npos) << text;
  uint64_t sum = 0;
  for (const char* next = text.c_str() + at + 10; *next != ']'; next += *next == ',') {
    char* end = nullptr;
    sum += std::strtoull(next, &end, 10);
    next = end;
  }
  EXPECT_EQ(sum, 12u);
  const std::string shares = rows({.point = "db:query", .rows = 1, .histogram = "share"});
  EXPECT_THAT(shares, HasSubstr(R"("others":2)"));
  EXPECT_THAT(shares, HasSubstr(R"(4.5],"counts")")) << "the last bar ends with the largest value";
}

TEST_F(PointRowsTest, WhatIsNoColumnOfNumbersIsRefusedWithThoseThatAre) {
  EXPECT_EQ(rows({.point = "db:query", .histogram = "love"}),
            "love is no column of numbers of this point; these are: rows, share, id");
  EXPECT_THAT(rows({.point = "db:query", .sort = "love"}), HasSubstr("no column 'love'"));
  EXPECT_THAT(rows({.point = "db:nothing", .histogram = "rows"}), HasSubstr(R"("rows":[])"));
}

TEST_F(PointRowsTest, ACurveHasTheLargestValueOfAStepAndKeepsTheLastOne) {
  const PointCurve curve(recording_, names_, "db:query", "rows", 1000, 4000);
  EXPECT_EQ(curve.values(), 12u);
  const ColumnReader read(curve.answer({0, 4000, 4}));
  EXPECT_THAT(read.column<double>("value"), ElementsAre(9, 9, 99, 99));
  EXPECT_THAT(read.column<double>("count"), ElementsAre(11, 0, 1, 0));
  const ColumnReader later(curve.answer({950, 1950, 2}));
  EXPECT_THAT(later.column<double>("value"), ElementsAre(9, 9)) << "what it was before the view";
  EXPECT_EQ(PointCurve(recording_, names_, "db:query", "love", 1000, 4000).values(), 0u);
}

}  // namespace
}  // namespace penna::point_rows_test

// SPDX-License-Identifier: MIT
// Points: typed values, statistics, and payloads that lie.
#include "model/events/points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "recording_builder.h"

namespace penna::points_test {
namespace {

using testing::ElementsAre;

Site make_site(uint32_t id, std::vector<SiteArgument> arguments) {
  Site site;
  site.id = id;
  site.line = 42;
  site.provider = "app";
  site.name = "request";
  site.file = "app.cc";
  site.arguments = std::move(arguments);
  return site;
}

uint64_t text_header(uint32_t length, bool cut = false) { return length | (cut ? uint64_t{1} << 32 : 0); }
uint64_t text_word(const char* text) {
  uint64_t word = 0;
  std::memcpy(&word, text, strnlen(text, 8));
  return word;
}

// A decoded point and the payload that its strings lie in: of exactly its size, so that a sanitizer sees every byte too far.
struct Decoded : DecodedPoint {
  std::vector<uint8_t> payload;
};

// The point of a record with these words behind the payload struct, cut to `bytes`.
Decoded decode(const Site* site, const std::vector<uint64_t>& words, size_t bytes = SIZE_MAX) {
  Decoded out;
  out.payload.resize(std::min(bytes, sizeof(penna_point) + words.size() * 8));
  if (out.payload.size() > sizeof(penna_point))
    std::memcpy(out.payload.data() + sizeof(penna_point), words.data(), out.payload.size() - sizeof(penna_point));
  Record record;
  record.kind = PENNA_KIND_POINT;
  record.payload = out.payload.data();
  record.payload_bytes = static_cast<uint32_t>(out.payload.size());
  decode_arguments(site, record, out);
  return out;
}

std::vector<std::string> texts(const DecodedPoint& point) {
  std::vector<std::string> result;
  for (const ArgumentValue& value : point.values) result.push_back(argument_text(value));
  return result;
}

std::vector<std::string> texts(const ArgumentStats& argument) {
  std::vector<std::string> result;
  for (const auto& each : argument.texts.top(5)) result.push_back(each.text + " " + std::to_string(each.count));
  return result;
}

TEST(Arguments, AreDecodedByTheirTypes) {
  const Site site = make_site(7, {{PENNA_ARG_INT, "a"},
                                  {PENNA_ARG_UINT, "b"},
                                  {PENNA_ARG_FLOAT, "c"},
                                  {PENNA_ARG_STRING, "d"},
                                  {PENNA_ARG_POINTER, "e"},
                                  {PENNA_ARG_BOOL, "f"},
                                  {PENNA_ARG_CHAR, "g"},
                                  {99, "h"}});
  const auto point = decode(&site, {static_cast<uint64_t>(-5), UINT64_MAX, std::bit_cast<uint64_t>(2.5), text_header(3),
                                    text_word("abc"), 0x7f00, 1, 'x', 0x1234});
  EXPECT_FALSE(point.malformed);
  EXPECT_THAT(texts(point), ElementsAre("-5", "18446744073709551615", "2.5", "abc", "0x7f00", "true", "'x'", "0x1234"));
  EXPECT_EQ(point.values[2].as_number(), 2.5);
  EXPECT_EQ(point.values[0].as_number(), -5.0);
}

TEST(Arguments, StringsMayBeCutOrEmptyOrFillTheirWords) {
  const Site site = make_site(7, {{PENNA_ARG_STRING, ""}, {PENNA_ARG_STRING, ""}, {PENNA_ARG_STRING, ""}});
  const auto point =
      decode(&site, {text_header(2, true), text_word("ab"), text_header(0), text_header(8), text_word("12345678")});
  EXPECT_FALSE(point.malformed);
  EXPECT_TRUE(point.values[0].cut);
  EXPECT_THAT(texts(point), ElementsAre("ab...", "", "12345678"));
}

uint64_t array_header(uint32_t bytes, uint32_t type, uint32_t element_bytes, bool cut = false) {
  return bytes | (uint64_t{cut} | type << PENNA_ELEMENT_TYPE_SHIFT | element_bytes << PENNA_ELEMENT_BYTES_SHIFT) << 32;
}

TEST(Arguments, ArraysShowTheirElements) {
  const Site site = make_site(7, std::vector<SiteArgument>(6, {PENNA_ARG_ARRAY, ""}));
  const auto point = decode(
      &site, {array_header(4, PENNA_ARG_INT, 2), 0x0002ffff,                                // shorts
              array_header(8, PENNA_ARG_FLOAT, 4, true), 0xc0000000'3fc00000,               // floats
              array_header(0, PENNA_ARG_INT, 8), array_header(0, PENNA_ARG_UINT, 8, true),  // nothing, or nothing left
              array_header(3, PENNA_ARG_BOOL, 1), 0x010001, array_header(8, PENNA_ARG_POINTER, 8), 0x7f00});
  EXPECT_FALSE(point.malformed);
  EXPECT_THAT(texts(point), ElementsAre("[-1, 2]", "[1.5, -2, ...]", "[]", "[...]", "[true, false, true]", "[0x7f00]"));
}

TEST(Arguments, ArraysThatLieAreHarmless) {
  const Site site = make_site(7, {{PENNA_ARG_ARRAY, ""}, {PENNA_ARG_ARRAY, ""}});
  // No size of elements, an unknown type; a size that does not divide the bytes.
  const auto point =
      decode(&site, {array_header(2, 9, 0), 0x0102, array_header(8, PENNA_ARG_INT, 3), 0x0807'060504'030201});
  EXPECT_FALSE(point.malformed);
  EXPECT_THAT(texts(point), ElementsAre("[0x2, 0x1]", "[197121, 394500]"));
}

TEST(Arguments, APayloadThatIsTooShortSaysSo) {
  const Site site = make_site(7, {{PENNA_ARG_INT, ""}, {PENNA_ARG_STRING, ""}, {PENNA_ARG_INT, ""}});
  const auto no_length = decode(&site, {1});
  EXPECT_TRUE(no_length.malformed);
  EXPECT_THAT(texts(no_length), ElementsAre("1", "?", "?"));
  const auto too_long = decode(&site, {1, text_header(1000), text_word("abc")});
  EXPECT_TRUE(too_long.malformed);
  EXPECT_THAT(texts(too_long), ElementsAre("1", "?", "?"));
  const auto huge = decode(&site, {1, text_header(UINT32_MAX), 5, 6});
  EXPECT_THAT(texts(huge), ElementsAre("1", "?", "?"));
  EXPECT_TRUE(decode(&site, {}, 4).malformed);
  EXPECT_TRUE(decode(&site, {}, 0).malformed);
}

TEST(Arguments, APayloadThatIsTooLongSaysSo) {
  const Site site = make_site(7, {{PENNA_ARG_INT, ""}});
  const auto point = decode(&site, {1, 2});
  EXPECT_TRUE(point.malformed);
  EXPECT_THAT(texts(point), ElementsAre("1"));
}

TEST(Arguments, WithoutASiteTheWordsAreShown) {
  const auto point = decode(nullptr, {1, 0xff});
  EXPECT_FALSE(point.malformed);
  EXPECT_THAT(texts(point), ElementsAre("0x1", "0xff"));
}

// Any words against any types: never outside the payload (under a sanitizer this is a proof).
TEST(Arguments, AnyBytesAreSafe) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::vector<SiteArgument> arguments(random() % 13);
    for (SiteArgument& argument : arguments) argument.type = static_cast<uint8_t>(random() % 10);
    std::vector<uint64_t> words(random() % 10);
    for (uint64_t& word : words) word = random() % 3 == 0 ? random() : random() % 40;
    const Site site = make_site(7, arguments);
    const Decoded point = decode(&site, words, random() % 90);
    EXPECT_EQ(texts(point).size(), arguments.size());  // reads every value
  }
}

TEST(Points, CollectStatisticsOfTheirArguments) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.site(process, make_site(7, {{PENNA_ARG_INT, "size"}, {PENNA_ARG_FLOAT, "load"}, {PENNA_ARG_STRING, "name"}}));
  auto& thread = build.thread(process, 1);
  auto hit = [&](int64_t size, double load, const char* name, uint64_t time) {
    thread.point(7, time,
                 {static_cast<uint64_t>(size), std::bit_cast<uint64_t>(load),
                  text_header(static_cast<uint32_t>(std::strlen(name))), text_word(name)});
  };
  hit(-10, 0.5, "get", 1'000'000'000);
  hit(30, std::numeric_limits<double>::quiet_NaN(), "put", 2'000'000'000);
  hit(10, 1.5, "get", 3'000'000'000);
  thread.point(7, 3'000'000'000, {5});  // the rest is missing
  Recording recording = build.open();
  Points points(recording);
  for_each_thread_event(recording, {.classes = kPointEvents}, points);
  ASSERT_EQ(points.all().size(), 1u);
  const PointStats& point = points.all()[0];
  EXPECT_EQ(point.hits, 4u);
  EXPECT_EQ(point.malformed, 1u);
  EXPECT_DOUBLE_EQ(point.rate(recording), 1.5);
  PointStats burst = point;
  burst.last_time = burst.first_time + 999'999;
  EXPECT_EQ(burst.rate(recording), 0.0);
  burst.last_time = burst.first_time + 1'000'000;
  EXPECT_DOUBLE_EQ(burst.rate(recording), 3000.0);
  const ArgumentStats& size = point.arguments[0];
  EXPECT_EQ(size.min().as_int(), -10);
  EXPECT_EQ(size.max().as_int(), 30);
  EXPECT_DOUBLE_EQ(size.average(), 35.0 / 4);
  const ArgumentStats& load = point.arguments[1];
  EXPECT_EQ(load.count, 3u);
  EXPECT_EQ(load.not_finite, 1u);
  EXPECT_EQ(load.min().as_float(), 0.5);
  EXPECT_EQ(load.max().as_float(), 1.5);
  EXPECT_DOUBLE_EQ(load.average(), 1.0);
  EXPECT_THAT(texts(point.arguments[2]), ElementsAre("get 2", "put 1"));
}

TEST(Points, TheAverageOfManyLargeNumbersIsOneOfThem) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.site(process, make_site(7, {{PENNA_ARG_UINT, "address"}}));
  auto& thread = build.thread(process, 1);
  constexpr uint64_t kAddress = 94'922'808'124'795;
  for (int i = 0; i < 300'000; ++i) thread.point(7, 1'000'000'000 + i, {kAddress});
  Recording recording = build.open();
  Points points(recording);
  for_each_thread_event(recording, {.classes = kPointEvents}, points);
  ASSERT_EQ(points.all().size(), 1u);
  EXPECT_EQ(points.all()[0].arguments[0].average(), static_cast<double>(kAddress));
}

TEST(Points, PassesAreCountedByTheirStacks) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.site(process, make_site(1, {}));
  auto& thread = build.thread(process, 1);
  const uint32_t stacks[] = {7, 9, 7, 0, 7};
  for (uint32_t i = 0; i < std::size(stacks); ++i) thread.point(1, 10 + i, {}, stacks[i]);
  const Recording recording = build.open();
  Points points(recording);
  for_each_thread_event(recording, {.classes = kPointEvents}, points);
  ASSERT_EQ(points.all().size(), 1u);
  const PointStats& point = points.all()[0];
  EXPECT_EQ(point.hits, 5u);
  ASSERT_EQ(point.stacks.size(), 2u);
  EXPECT_EQ(point.stacks[0].stack, 7u);
  EXPECT_EQ(point.stacks[0].hits, 3u);
  EXPECT_EQ(point.stacks[1].stack, 9u);
  EXPECT_EQ(point.stacks[1].hits, 1u);
}

TEST(Points, CopiesOfOneSiteAreOne) {
  RecordingBuilder build;
  const uint32_t first = build.process(100), second = build.process(200);
  build.site(first, make_site(1, {}));
  build.site(first, make_site(2, {}));
  build.site(second, make_site(9, {}));
  build.thread(first, 1).point(1, 10);
  build.thread(first, 1).point(2, 11);
  build.thread(second, 1).point(9, 12);
  build.thread(second, 1).point(55, 13);  // never described
  Recording recording = build.open();
  Points points(recording);
  for_each_thread_event(recording, {.classes = kPointEvents}, points);
  ASSERT_EQ(points.by_hits().size(), 2u);
  EXPECT_EQ(points.by_hits()[0]->hits, 3u);
  EXPECT_EQ(points.by_hits()[1]->site, nullptr);
  EXPECT_EQ(points.without_site(), 1u);
  EXPECT_EQ(points.hits(), 4u);
  EXPECT_EQ(site_name(points.by_hits()[0]->site, 1), "app:request");
  EXPECT_EQ(site_name(nullptr, 55), "[unknown site 55]");
}

TEST(Points, SpansHaveDurations) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  Site begin = make_site(7, {{PENNA_ARG_INT, "n"}}), end = make_site(8, {});
  begin.kind = PENNA_SITE_SPAN;
  end.kind = PENNA_SITE_SPAN_END;
  build.site(process, begin);
  build.site(process, end);
  auto& thread = build.thread(process, 1);
  auto& other = build.thread(process, 2);
  thread.point(8, 5);  // an end without its beginning
  thread.point(7, 10, {1});
  other.point(7, 11, {1});
  thread.point(7, 20, {2});
  thread.point(8, 25);
  thread.point(7, 30, {3});
  thread.point(8, 40);
  thread.point(8, 110);
  other.point(8, 1011);
  Recording recording = build.open();
  Points points(recording);
  for_each_thread_event(recording, {.classes = kPointEvents}, points);
  ASSERT_EQ(points.all().size(), 1u);  // the end is no point of its own
  EXPECT_EQ(points.all()[0].hits, 4u);
  EXPECT_EQ(points.span_ends(), 5u);
  const Distribution& duration = points.all()[0].duration;
  EXPECT_EQ(duration.count(), 4u);
  EXPECT_EQ(duration.sum(), 5u + 10 + 100 + 1000);
  EXPECT_EQ(duration.max(), 1000u);
}

TEST(Points, WhatWasCutIsCounted) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.site(process, make_site(7, {{PENNA_ARG_STRING, "s"}, {PENNA_ARG_ARRAY, "a"}}));
  auto& thread = build.thread(process, 1);
  thread.point(7, 10, {text_header(2, true), text_word("ab"), array_header(2, PENNA_ARG_UINT, 1, true), 0x0201});
  thread.point(7, 20, {text_header(2), text_word("ab"), array_header(2, PENNA_ARG_UINT, 1), 0x0201});
  Recording recording = build.open();
  Points points(recording);
  for_each_thread_event(recording, {.classes = kPointEvents}, points);
  const auto& arguments = points.all()[0].arguments;
  EXPECT_EQ(arguments[0].cut, 1u);
  EXPECT_EQ(arguments[1].cut, 1u);
  EXPECT_THAT(texts(arguments[0]), ElementsAre("ab 2"));
  EXPECT_THAT(texts(arguments[1]), ElementsAre("[1, 2, ...] 1", "[1, 2] 1"));
}

}  // namespace
}  // namespace penna::points_test

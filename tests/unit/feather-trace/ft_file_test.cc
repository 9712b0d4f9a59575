// SPDX-License-Identifier: MIT
// The reader of feather-trace files: whole, cut at every byte, and with random contents.
#include "ft_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "feather-trace/sections_text.h"

namespace penna::ft_file_test {

using Bytes = std::vector<uint8_t>;

void add(Bytes& bytes, const FtRecord& record) {
  const auto* from = reinterpret_cast<const uint8_t*>(&record);
  bytes.insert(bytes.end(), from, from + sizeof record);
}
Bytes two_sections() {
  Bytes bytes;
  constexpr uint32_t kGarbage = 0xdeadbeef;  // nesting was never written
  add(bytes, {kFtTaken, 0xa0, 1, kGarbage, kGarbage, 10});
  add(bytes, {kFtTaken, 0xb0, 1, kGarbage, kGarbage, 11});
  add(bytes, {kFtReleased, 0xb0, 1, kGarbage, kGarbage, 12});
  add(bytes, {kFtReleased, 0xa0, 1, kGarbage, kGarbage, 13});
  return bytes;
}

struct Read {
  CriticalSections sections;
  std::string error;
};
// `piece`: bytes that a read gives at most.
Read read(const Bytes& bytes, size_t piece = SIZE_MAX) {
  Read result;
  size_t at = 0;
  const auto source = [&](std::span<uint8_t> into) -> Result<size_t> {
    const size_t count = std::min({into.size(), piece, bytes.size() - at});
    if (count != 0) std::memcpy(into.data(), bytes.data() + at, count);
    at += count;
    return count;
  };
  if (const Result<> done = read_ft(source, result.sections); !done) result.error = done.error().text;
  result.sections.finish();
  return result;
}

TEST(FtFile, IsRead) {
  for (size_t piece : {SIZE_MAX, size_t{1}, size_t{7}, size_t{40}, size_t{41}}) {
    const Read done = read(two_sections(), piece);
    EXPECT_EQ(done.error, "");
    EXPECT_EQ(text_of(done.sections).sections, "10, 13, 3, 0, 1\n11, 12, 1, 1, 1\n");
  }
}

TEST(FtFile, LongerThanABuffer) {
  Bytes bytes;
  for (uint64_t i = 0; i < 10'000; ++i) add(bytes, {i % 2 == 0 ? kFtTaken : kFtReleased, 1, i % 3, 0, 0, i});
  const Read done = read(bytes, 12345);
  EXPECT_EQ(done.error, "");
  EXPECT_EQ(done.sections.events(), 10'000u);
}

TEST(FtFile, Empty) {
  const Read done = read({});
  EXPECT_EQ(done.error, "");
  EXPECT_EQ(done.sections.events(), 0u);
}

TEST(FtFile, CutAtEveryByte) {
  const Bytes whole = two_sections();
  for (size_t length = 1; length < whole.size(); ++length) {
    const Read done = read(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
    EXPECT_EQ(done.sections.events(), length / 40);
    EXPECT_EQ(done.error.empty(), length % 40 == 0) << length;
    EXPECT_EQ(text_of(done.sections).counts.complete, length < 120 ? 0u : 1u);
  }
  const Bytes cut(whole.begin(), whole.begin() + 137);
  EXPECT_EQ(read(cut).error, "it ends within a record, 17 bytes of 40 at byte 120; 3 records before it are shown");
}

TEST(FtFile, WhatIsNoRecordEndsIt) {
  Bytes bytes = two_sections();
  add(bytes, {1002, 0xa0, 1, 0, 0, 20});
  add(bytes, {kFtTaken, 0xa0, 1, 0, 0, 21});
  const Read done = read(bytes);
  EXPECT_EQ(done.error,
            "no record of a mutex at byte 160: its event is 1002, not 1000 or 1001; 4 records before it are shown");
  EXPECT_EQ(done.sections.events(), 4u);
  EXPECT_EQ(
      read(Bytes(1000, 0xff)).error,
      "no record of a mutex at byte 0: its event is 18446744073709551615, not 1000 or 1001; there are none before it");
}

TEST(FtFile, AnErrorOfTheSourceIsPassedOn) {
  CriticalSections sections;
  const Result<> done = read_ft([](std::span<uint8_t>) -> Result<size_t> { return Error{"it burns"}; }, sections);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text, "it burns");
}

// Any locks, threads and times: every event is one end of a section, or is told as one that is missing.
TEST(FtFile, OfRandomRecords) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    Bytes bytes;
    const size_t records = random() % 500;
    for (size_t i = 0; i < records; ++i)
      add(bytes, {random() % 2 == 0 ? kFtTaken : kFtReleased, random() % 4, random() % 3, 0, 0, random()});
    const Read done = read(bytes);
    EXPECT_EQ(done.error, "");
    const SectionCounts counts = text_of(done.sections).counts;
    EXPECT_EQ(2 * counts.complete + counts.incomplete, records);
  }
}

}  // namespace penna::ft_file_test

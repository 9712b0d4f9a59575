// SPDX-License-Identifier: MIT
// What is said of the size of an export while it is written.
#include "cli/export/export_size.h"

#include <gtest/gtest.h>

namespace penna::export_size_test {
namespace {

constexpr uint64_t kEvents = 1000;

// What is said of an export that writes `bytes` for each event of its last pass. Each earlier one reads `before` events.
std::string said(size_t bytes, uint64_t before = 0, int earlier = 0) {
  testing::internal::CaptureStderr();
  Progress progress("exporting", 0, "events", nullptr);
  ExportSize size("out", "-r makes it smaller", progress, earlier == 0 ? kEvents : before);
  if (earlier != 0) {
    progress.step(before * static_cast<uint64_t>(earlier));
    size.writes_later(kEvents);
  }
  const TextSink sink = size.through([](std::string_view) { return true; });
  const std::string text(bytes, 'x');
  for (uint64_t i = 0; i < kEvents; ++i) {
    progress.step();
    sink(text);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(ExportSize, IsToldOfLargeOnesOnly) {
  EXPECT_EQ(said(50'000), "");
  EXPECT_EQ(said(200'000), "penna: out will take about 200 MB; -r makes it smaller\n");
}

// Passes that write nothing, of more events than the one that does: as many bytes come all the same.
TEST(ExportSize, CountsThePassThatWrites) {
  EXPECT_EQ(said(50'000, 100'000, 1), "");
  EXPECT_EQ(said(50'000, 100'000, 2), "");
  EXPECT_EQ(said(200'000, 100'000, 2), "penna: out will take about 200 MB; -r makes it smaller\n");
}

}  // namespace
}  // namespace penna::export_size_test

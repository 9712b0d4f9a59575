// SPDX-License-Identifier: MIT
// Stored recordings of each format version: what was written once must stay readable for ever.
//
// Invariant: the files in tests/golden are never rewritten. A new version of the format adds new ones: run
//   recording_golden_test --gtest_also_run_disabled_tests --gtest_filter='*WriteNew*'
#include "sample.h"

#ifndef PENNA_GOLDEN_DIR
#error "PENNA_GOLDEN_DIR is set by CMakeLists.txt"
#endif

namespace penna {
namespace {

std::string golden(const std::string& name) {
  return PENNA_GOLDEN_DIR "/recording-v" + std::to_string(layout::kVersion) + name + ".penna";
}

TEST(Golden, Version1) {
  auto recording = Recording::open(PENNA_GOLDEN_DIR "/recording-v1.penna");
  ASSERT_TRUE(recording) << recording.error().text;
  EXPECT_TRUE(recording->is_finished());
  EXPECT_FALSE(recording->damage().any());
  expect_sample(*recording);
}

TEST(Golden, Version1UnfinishedWithoutColumns) {
  auto recording = Recording::open(PENNA_GOLDEN_DIR "/recording-v1-unfinished.penna");
  ASSERT_TRUE(recording) << recording.error().text;
  EXPECT_FALSE(recording->is_finished());
  EXPECT_FALSE(recording->damage().any());
  expect_sample(*recording);
}

TEST(Golden, DISABLED_WriteNewOnes) {
  for (bool finished : {true, false}) {
    WriterOptions options;
    options.columns = finished;
    auto writer = RecordingWriter::create(golden(finished ? "" : "-unfinished"), options);
    ASSERT_TRUE(writer) << writer.error().text;
    write_sample(*writer);
    if (finished) {
      ASSERT_TRUE(writer->finish());
    }
  }
}

}  // namespace
}  // namespace penna

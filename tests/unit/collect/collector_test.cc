// SPDX-License-Identifier: MIT
// Collector: what it promises apart from what the programs' tests show.
#include "collect/collector.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "penna/clock.h"
#include "recording/reader.h"

namespace penna::collector_test {
namespace {

// Else the first events of a program would lie before the beginning of their recording, when the machine is busy.
TEST(Collector, TheFirstClockIsThatOfItsStart) {
  const std::string path = testing::TempDir() + "/penna-collector-" + std::to_string(::getpid());
  for (int i = 0; i < 20; ++i) {
    auto doorbell = Doorbell::create();
    auto writer = RecordingWriter::create(path, {.overwrite = true});
    ASSERT_TRUE(doorbell && writer);
    Collector collector(std::move(*writer), *doorbell);
    ASSERT_TRUE(collector.start());
    const uint64_t started = penna_now();
    ASSERT_TRUE(collector.stop());
    auto recording = Recording::open(path);
    ASSERT_TRUE(recording);
    ASSERT_FALSE(recording->clocks().empty());
    EXPECT_LE(recording->clocks()[0].ticks, started);
  }
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace penna::collector_test

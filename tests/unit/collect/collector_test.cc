// SPDX-License-Identifier: MIT
// Collector: guarantees that the programs' tests do not cover.
#include "collect/collector.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "collect/channel_map.h"
#include "fake_channel.h"
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

struct ProcessOrder : Observer {
  std::vector<std::string> seen;
  void began(const Process& process) override { seen.push_back("began " + std::to_string(process.number)); }
  void records(uint32_t process, std::span<const uint8_t>) override {
    seen.push_back("records " + std::to_string(process));
  }
  void stacks(uint32_t, uint32_t, std::span<const penna_stack_node>) override {}
  void ended(const ProcessEnd& end) override { seen.push_back("ended " + std::to_string(end.number)); }
  void up_to_date() override {}
};

// The recorder may have had no processor until all have ended. Of the parent, one chunk is full and one is open.
TEST(Collector, AnObserverSeesWhatAParentDidBeforeItsChild) {
  const std::string path = testing::TempDir() + "/penna-order-" + std::to_string(::getpid());
  auto doorbell = Doorbell::create();
  auto writer = RecordingWriter::create(path, {.overwrite = true});
  ASSERT_TRUE(doorbell && writer);
  ProcessOrder order;
  Collector collector(std::move(*writer), *doorbell);
  collector.set_observer(order);
  const auto pid = static_cast<uint32_t>(::getpid());
  FakeChannel parent, child;
  for (const FakeChannel* one : {&parent, &child}) {
    one->write_chunk(0, 7, 0, {uint64_t{1} << 32 | 4096 | PENNA_TAG_ENTRY});
    one->hand_over(0, 1);
    one->seal();
  }
  parent.write_chunk(1, 7, 1, {uint64_t{2} << 32 | 4096 | PENNA_TAG_ENTRY});
  Process of_parent, of_child;
  of_parent.pid = of_child.parent_pid = pid;
  of_child.pid = pid + 1;
  of_child.number = of_child.forked_by = 1;
  collector.add(of_parent, *ChannelMap::map(parent.memory()));
  collector.add(of_child, *ChannelMap::map(child.memory()));
  collector.end(1, EndKind::kExited, 0);
  collector.end(0, EndKind::kExited, 0);
  ASSERT_TRUE(collector.start());
  ASSERT_TRUE(collector.stop());
  EXPECT_EQ(order.seen, (std::vector<std::string>{"began 0", "records 0", "records 0", "began 1", "records 1",
                                                  "ended 1", "ended 0"}));
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace penna::collector_test

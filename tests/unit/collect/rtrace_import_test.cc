// SPDX-License-Identifier: MIT
// Traces of functracer and sp-rtrace become recordings, however malformed.
#include "collect/import/rtrace_import.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "model/blocks/allocations.h"
#include "model/events/block_records.h"
#include "recording/reader.h"

namespace penna::rtrace_import_test {
namespace {

constexpr const char* kHeader =
    "version=2.0, arch=i686, timestamp=16.6.2011 15:49:48, process=./prog, pid=1597, backtrace depth=10, "
    "origin=functracer 1.4,\n<1> : memory (memory allocation in bytes)\n";

class RtraceImportTest : public testing::Test {
 protected:
  ~RtraceImportTest() override { ::unlink(path_.c_str()); }
  Recording import(const std::string& events) {
    text_ = kHeader + events;
    auto trace = RtraceImport::open(text_);
    EXPECT_TRUE(trace) << trace.error().text;
    auto writer = RecordingWriter::create(path_, {.overwrite = true});
    summary_ = trace->write(*writer, trace->session());
    EXPECT_TRUE(writer->finish());
    auto recording = Recording::open(path_);
    EXPECT_TRUE(recording) << recording.error().text;
    return std::move(*recording);
  }
  std::unique_ptr<Allocations> heap(const Recording& recording) {
    auto heap = std::make_unique<Allocations>(recording);
    times_.clear();
    for_each_event(recording, {.classes = kAllocEvents}, [&](const Event& event) {
      (*heap)(event);
      times_.push_back(event.time);
    });
    return heap;
  }

  std::string path_ = "/dev/shm/penna-rtrace-test-" + std::to_string(::getpid());
  std::string text_;
  RtraceSummary summary_;
  std::vector<uint64_t> times_;
};

TEST_F(RtraceImportTest, what_functracer_wrote) {
  const Recording recording = import(
      "Process/Thread 1597 (./prog) was created\n"
      ": /lib/libc-2.5.so => 0x40038000-0x4013c000\n"
      ": ./prog => 0x8000-0x9000\n"
      "0. [14:54:26.319] malloc(123) = 0x11008\n\t0x85b3 in do_backtrace+0x18\n\t0x40039000\n\n"
      "1. [14:54:26.320] realloc(0x11008)\n\n"
      "2. [14:54:26.320] realloc(456) = 0x11100\n\t0x85f3 in main+0x14\n\n"
      "3. [@2 [14:54:26.330] calloc(9) = 0x1\n"
      "4. @2 [14:54:26.330] posix_memalign(64) = 0x12000\n");
  EXPECT_EQ(recording.processes()[0].process.pid, 1597u);
  EXPECT_EQ(recording.session().machine, "i686");
  EXPECT_EQ(recording.session().start.realtime_ns, 1308239388'000'000'000u);
  const auto& modules = recording.processes()[0].modules;
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].bias, 0u);  // a program that was not moved
  EXPECT_EQ(modules[1].bias, 0x40038000u);
  const HeapTotals total = heap(recording)->total();
  EXPECT_EQ(total.allocations, 3u);
  EXPECT_EQ(total.frees, 1u);
  EXPECT_EQ(total.live_bytes, 456u + 64u);
  EXPECT_EQ(total.peak_bytes, 456u + 64u);
  EXPECT_EQ(total.allocations_by_family[PENNA_FAMILY_REALLOC], 1u);
  EXPECT_EQ(total.allocations_by_family[PENNA_FAMILY_ALIGNED], 1u);
  EXPECT_EQ(times_,
            (std::vector<uint64_t>{53666'319'000'001, 53666'320'000'000, 53666'320'000'001, 53666'330'000'000}));
  EXPECT_EQ(summary_.damaged_lines, 1u);  // number 3
  EXPECT_EQ(summary_.comments, 1u);
  const auto stacks = heap(recording)->stacks();
  const auto inner = recording.stack_node(0, stacks[0].stack);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->pc, 0x85b3u);
  EXPECT_EQ(recording.stack_node(0, inner->parent)->pc, 0x40039000u);
}

TEST_F(RtraceImportTest, how_the_process_ended) {
  const auto end_of = [&](const std::string& line) {
    const Recording recording = import("0. [14:54:26.319] malloc(123) = 0x11008\n\n" + line + "\n");
    const ProcessEnd end = recording.processes()[0].end.value_or(ProcessEnd{});
    return std::pair(end.how, end.code);
  };
  EXPECT_EQ(end_of("# process 1597 exited with 3"), std::pair(EndKind::kExited, 3));
  EXPECT_EQ(end_of("# process 1597 killed by SIGSEGV"), std::pair(EndKind::kSignaled, 11));
  EXPECT_EQ(end_of("# process 1597 killed by signal 40"), std::pair(EndKind::kSignaled, 40));
  EXPECT_EQ(end_of("Process/Thread 1597 (./a (b) prog) has exited with code 1"), std::pair(EndKind::kExited, 1));
  EXPECT_EQ(end_of("Process/Thread 1597 (./prog) was killed by signal 9"), std::pair(EndKind::kSignaled, 9));
  for (const char* other :
       {"# process 1598 exited with 3", "# process 1597 exited with 300", "# process 1597 killed by SIGNO",
        "Process/Thread 1597 (./prog) was detached", "# process 1597 was running", "# process"})
    EXPECT_EQ(end_of(other), std::pair(EndKind::kStopped, 0)) << other;
}

TEST_F(RtraceImportTest, backtraces_of_frees) {
  const Recording recording = import(
      "0. malloc(1) = 0x10\n\t0x85b3\n\n"
      "1. free(0x10)\n\t0x85f3\n\t0x8600\n\n"
      "2. free(0x20)\n");
  std::vector<uint32_t> stacks;
  for_each_event(recording, {.classes = kAllocEvents}, [&](const Event& event) {
    const BlockRecord block = read_block(event.record);
    if (block.action == BlockAction::kFreed) stacks.push_back(block.stack);
  });
  ASSERT_EQ(stacks.size(), 2u);
  ASSERT_TRUE(recording.stack_node(0, stacks[0]));
  EXPECT_EQ(recording.stack_node(0, stacks[0])->pc, 0x85f3u);
  EXPECT_EQ(stacks[1], 0u);
}

TEST_F(RtraceImportTest, other_resources_are_left_out_and_told) {
  const Recording recording = import(
      "<2> : fd (file descriptors)\n"
      "0. open<fd>(1) = 0x3\n\t$path = /etc/passwd\n\t0x85b3\n"
      "1. malloc<memory>(5000000000) = 0xb7e87118\n\t0x85b3\n"
      "2. close<fd>(0x3)\n");
  EXPECT_EQ(summary_.other_resources, 2u);
  EXPECT_EQ(heap(recording)->total().bytes, 5'000'000'000u);
}

TEST_F(RtraceImportTest, threads_and_midnight) {
  const Recording recording = import(
      "0. [23:59:59.999] malloc(1) = 0x10\n\t$tid = 1598\n"
      "1. [00:00:00.001] free(0x10)\n\t$tid = 1599\n"
      "2. [00:00:00.000] malloc(2) = 0x10\n\t$tid = 0\n");
  EXPECT_EQ(recording.threads().size(), 3u);
  const HeapTotals total = heap(recording)->total();
  EXPECT_EQ(total.live_bytes, 2u);
  EXPECT_EQ(total.unmatched_frees + total.replaced, 0u);
  EXPECT_EQ(times_[1], 86400'001'000'000u);
  EXPECT_EQ(times_[2], 86400'001'000'001u);  // in the order of the file
}

TEST_F(RtraceImportTest, whatever_is_wrong_is_counted) {
  const Recording recording = import(
      "0. malloc(\n1. malloc(1)\n2. malloc(1) = 11\n3. malloc(99999999999999999999) = 0x1\n4. malloc(1) = 0x0\n"
      "5. malloc(1) = 0x1ffffffffffffffff\n6. malloc(1) = 0x1ffffffffffffff\n7. free(0x\n8. [25:00:00.000] malloc(1) = "
      "0x1\n"
      ": no range\n: x => 0x2-0x1\n<\n9. malloc<memory(1) = 0x1\n"
      "10. malloc(7) = 0x10\n\tgarbage\n\t0xfffffffffffffff0\n\t0x10\n");
  EXPECT_EQ(summary_.damaged_lines, 9u + 3u + 1u + 2u);
  EXPECT_EQ(heap(recording)->total().bytes, 7u);
  EXPECT_EQ(recording.processes()[0].modules.size(), 0u);
}

TEST_F(RtraceImportTest, deep_stacks_say_where_they_end) {
  std::string deep = "0. malloc(7) = 0x10\n";
  for (int i = 1; i <= 300; ++i) deep += "\t0x" + std::to_string(1000 + i) + "\n";
  const Recording recording = import(deep);
  auto node = recording.stack_node(0, heap(recording)->stacks()[0].stack);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->depth, 256u);
  while (node->parent != 0) node = recording.stack_node(0, node->parent);
  EXPECT_EQ(node->end, PENNA_STACK_DEPTH_LIMIT);
}

TEST_F(RtraceImportTest, refuses_what_is_none) {
  EXPECT_FALSE(RtraceImport::open(""));
  EXPECT_FALSE(RtraceImport::open("\n\n# nothing\n"));
  EXPECT_FALSE(RtraceImport::open("0. malloc(1) = 0x1\n"));
  EXPECT_FALSE(RtraceImport::open("version=3.0, arch=x\n"));
  EXPECT_TRUE(RtraceImport::open("# made by hand\nversion=2.0"));
}

}  // namespace
}  // namespace penna::rtrace_import_test

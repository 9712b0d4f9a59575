// SPDX-License-Identifier: MIT
// DescriptionStore: what it was given is in each file, and what comes and goes leaves nothing.
#include "recording/description_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "recording/reader.h"
#include "recording/writer.h"

namespace penna::description_store_test {
namespace {

bool main_thread_lives(uint32_t, uint32_t tid) { return tid == 1; }

TEST(DescriptionStore, EachFileHasAll) {
  DescriptionStore store(&main_thread_lives);
  RecordingWriter into = RecordingWriter::into(store);
  ASSERT_TRUE(into.write_process({.number = 3, .pid = 77, .executable = {}, .command = {}}));
  const std::vector<Module> modules = {
      {.bias = 1, .start = 4096, .end = 8192, .build_id = {}, .path = "/lib/a.so", .ticks = 5}};
  for (int twice = 0; twice < 2; ++twice) ASSERT_TRUE(into.write_modules(3, modules));
  ASSERT_TRUE(into.write_threads(3, std::vector<Thread>{{1, 1, "main", 5}, {2, 2, "worker", 6}}));
  ASSERT_TRUE(into.write_sites(
      3, std::vector<Site>{{.id = 9, .provider = "shop", .name = "order", .file = {}, .arguments = {}}}));
  ASSERT_TRUE(into.write_stacks(3, 0, std::vector<penna_stack_node>{{0, 0, 0}, {4097 | uint64_t{1} << 48, 0, 1}}));
  ASSERT_TRUE(into.write_process_end({.number = 3, .how = EndKind::kExited, .code = 2}));
  char folder[] = "/tmp/penna-store-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  for (const char* name : {"/1.penna", "/2.penna"}) {
    const std::string path = std::string(folder) + name;
    RecordingWriter file = *RecordingWriter::create(path);
    store.write(file);
    store.write_rest(file);
    ASSERT_TRUE(file.finish());
    const auto recording = Recording::open(path);
    ASSERT_TRUE(recording);
    ASSERT_EQ(recording->processes().size(), 1u);
    const RecordedProcess& process = recording->processes()[0];
    EXPECT_EQ(process.process.pid, 77u);
    EXPECT_EQ(process.modules.size(), 1u);
    EXPECT_EQ(process.sites.size(), 1u);
    EXPECT_EQ(process.threads.size(), 2u);
    ASSERT_TRUE(process.end);
    EXPECT_EQ(process.end->code, 2);
    EXPECT_TRUE(recording->stack_node(0, 1));
    ::unlink(path.c_str());
  }
  ::rmdir(folder);
}

// Hours of a program that makes a process a second, and threads.
TEST(DescriptionStore, NothingGrows) {
  DescriptionStore store(&main_thread_lives);
  RecordingWriter into = RecordingWriter::into(store);
  ASSERT_TRUE(into.write_process({.number = 0, .pid = 1, .executable = {}, .command = {}}));
  for (uint32_t i = 1; i <= 40000; ++i) {
    ASSERT_TRUE(into.write_clock({i, i, i}));
    ASSERT_TRUE(into.write_threads(0, std::vector<Thread>{{i, i, "thread", i}}));
    ASSERT_TRUE(into.write_modules(
        0, std::vector<Module>{{.start = 4096 * (i % 50), .end = 4096, .build_id = {}, .path = {}, .ticks = i}}));
    ASSERT_TRUE(into.write_process({.number = i, .pid = i, .executable = {}, .command = {}}));
    ASSERT_TRUE(into.write_stacks(i, 0, std::vector<penna_stack_node>{{0, 0, 0}, {4097, 0, 1}}));
    store.forget(i);
    ASSERT_TRUE(into.write_process_end({.number = i}));  // comes after the process was forgotten
    EXPECT_EQ(store.processes(), 1u);
    EXPECT_LE(store.threads(), DescriptionStore::kMostThreads + 1);
    EXPECT_EQ(store.stack_bytes(), 0u);
  }
}

}  // namespace
}  // namespace penna::description_store_test

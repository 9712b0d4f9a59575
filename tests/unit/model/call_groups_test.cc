// SPDX-License-Identifier: MIT
// CallGroups: the time of threads and of modules, with calls from one into the other and back.
#include "model/calls/call_groups.h"

#include <gtest/gtest.h>

#include "recording_builder.h"

namespace penna::call_groups_test {
namespace {

constexpr uint64_t kProgram = 0x100000, kLibrary = 0x200000;

// main 0..100 calls library 10..60, which calls main's callback 20..30; another thread: library 5..25, in it itself 10..20.
Recording two_threads(RecordingBuilder& build) {
  const uint32_t process = build.process(100, 1, 0);
  for (const auto& [path, at] : {std::pair{"/bin/program", kProgram}, {"/lib/library.so", kLibrary}}) {
    Module module;
    module.path = path;
    module.bias = module.start = at;
    module.end = at + 0x10000;
    build.module(process, module);
  }
  ThreadBuilder& first = build.thread(process, 1);
  first.enter(kProgram, 0);
  first.enter(kLibrary, 10);
  first.enter(kProgram + 16, 20);
  first.exit(kProgram + 16, 30);
  first.exit(kLibrary, 60);
  first.exit(kProgram, 100);
  ThreadBuilder& second = build.thread(process, 2);
  second.enter(kLibrary, 5);
  second.enter(kLibrary, 10);
  second.exit(kLibrary, 20);
  second.exit(kLibrary, 25);
  return build.open();
}

std::vector<const CallGroup*> groups_of(const Recording& recording, CallGroups& groups) {
  for_each_thread_event(recording, {.classes = kCallEvents}, groups);
  groups.finish();
  return groups.by_total();
}

TEST(CallGroups, AModulesTotalCountsItsCallsInsideItsCallsOnce) {
  RecordingBuilder build;
  const Recording recording = two_threads(build);
  const CodeMap map(recording);
  CallGroups groups(recording, map, CallGroups::By::kModule);
  const auto rows = groups_of(recording, groups);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(map.file_name(rows[0]->key), "program");
  EXPECT_EQ(rows[0]->calls, 2u);
  EXPECT_EQ(rows[0]->total, 100u);
  EXPECT_EQ(rows[0]->self, 60u);
  EXPECT_EQ(rows[1]->calls, 3u);
  EXPECT_EQ(rows[1]->total, 70u);
  EXPECT_EQ(rows[1]->self, 60u);
  EXPECT_EQ(rows[1]->duration.min(), 10u);
  EXPECT_EQ(rows[1]->duration.max(), 50u);
}

TEST(CallGroups, AThreadsTotalIsTheTimeInItsOutermostCalls) {
  RecordingBuilder build;
  const Recording recording = two_threads(build);
  const CodeMap map(recording);
  CallGroups groups(recording, map, CallGroups::By::kThread);
  const auto rows = groups_of(recording, groups);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]->total, 100u);
  EXPECT_EQ(rows[0]->self, 100u);
  EXPECT_EQ(rows[1]->calls, 2u);
  EXPECT_EQ(rows[1]->total, 20u);
}

}  // namespace
}  // namespace penna::call_groups_test

// SPDX-License-Identifier: MIT
// CallGraph: callers and callees of functions, counted by hand; recursion counts once in every total.
#include "model/calls/call_graph.h"

#include <gtest/gtest.h>

#include <string>

#include "recording_builder.h"

namespace penna::call_graph_test {
namespace {

constexpr uint64_t kMain = 0x401000, kWork = 0x402000, kLeaf = 0x403000, kOther = 0x404000;

std::string text(const std::vector<CallGraph::Neighbour>& list, const FunctionTable& functions) {
  std::string result;
  for (const auto& [function, edge] : list) {
    const uint64_t at = function == kNoFunction ? 0 : functions.place(function).address;
    const char* name = at == kMain ? "main" : at == kWork ? "work" : at == kLeaf ? "leaf" : at == 0 ? "-" : "other";
    result += std::string(name) + " " + std::to_string(edge.calls) + "/" + std::to_string(edge.total) + "/" +
              std::to_string(edge.self) + " ";
  }
  return result;
}

struct Graphed {
  Graphed(RecordingBuilder& build, std::vector<uint64_t> chosen)
      : recording(build.open()), map(recording), graph(recording, map, [chosen](const CodePlace& place) {
          return std::find(chosen.begin(), chosen.end(), place.address) != chosen.end();
        }) {
    for_each_thread_event(recording, {.classes = kCallEvents}, graph);
    graph.finish();
  }
  std::string callers() const { return text(graph.callers(), graph.functions()); }
  std::string callees() const { return text(graph.callees(), graph.functions()); }
  std::string chosen() const {
    return std::to_string(graph.chosen().calls) + "/" + std::to_string(graph.chosen().total) + "/" +
           std::to_string(graph.chosen().self);
  }
  Recording recording;
  CodeMap map;
  CallGraph graph;
};

// main(0-100) { work(10-50) { leaf(12-15) work(20-40) { leaf(22-23) leaf(24-25) } } other(60-90) { work(70-80) } }
void fill(ThreadBuilder& thread) {
  thread.enter(kMain, 0);
  thread.enter(kWork, 10);
  thread.enter(kLeaf, 12);
  thread.exit(kLeaf, 15);
  thread.enter(kWork, 20);
  for (uint64_t at : {22, 24}) {
    thread.enter(kLeaf, at);
    thread.exit(kLeaf, at + 1);
  }
  thread.exit(kWork, 40);
  thread.exit(kWork, 50);
  thread.enter(kOther, 60);
  thread.enter(kWork, 70);
  thread.exit(kWork, 80);
  thread.exit(kOther, 90);
  thread.exit(kMain, 100);
}

TEST(CallGraph, CallersAndCalleesWithRecursion) {
  RecordingBuilder build;
  fill(build.thread(build.process(100), 1));
  const Graphed work(build, {kWork});
  EXPECT_EQ(work.chosen(), "3/50/45");  // 10-50 once, and 70-80
  EXPECT_EQ(work.callers(), "main 1/40/17 work 1/20/18 other 1/10/10 ");
  EXPECT_EQ(work.callees(), "work 1/20/18 leaf 3/5/5 ");
}

TEST(CallGraph, TheOutermostHasNoCaller) {
  RecordingBuilder build;
  fill(build.thread(build.process(100), 1));
  const Graphed main(build, {kMain});
  EXPECT_EQ(main.callers(), "- 1/100/30 ");
  EXPECT_EQ(main.callees(), "work 1/40/17 other 1/30/20 ");
}

TEST(CallGraph, SeveralFunctionsCountAsOne) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  fill(build.thread(process, 1));
  fill(build.thread(process, 2));
  const Graphed both(build, {kWork, kOther});
  EXPECT_EQ(both.chosen(), "8/140/130");  // of each thread 10-50 and 60-90
  EXPECT_EQ(both.callers(), "main 4/140/74 work 2/40/36 other 2/20/20 ");
  EXPECT_EQ(both.callees(), "work 4/60/56 leaf 6/10/10 ");
}

// What was never left ends with the thread, what longjmp left with its outer call.
TEST(CallGraph, UnfinishedCalls) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.exit(kOther, 1);
  thread.enter(kMain, 10);
  thread.enter(kWork, 20);
  thread.enter(kLeaf, 25);
  thread.exit(kMain, 30);
  thread.enter(kWork, 40);
  thread.enter(kLeaf, 45);
  thread.exit(kLeaf, 47);
  const Graphed work(build, {kWork});
  EXPECT_EQ(work.chosen(), "2/17/10");
  EXPECT_EQ(work.callers(), "main 1/10/5 - 1/7/5 ");
  EXPECT_EQ(work.callees(), "leaf 2/7/7 ");
  EXPECT_EQ(work.graph.counts().stray_exits, 1u);
}

}  // namespace
}  // namespace penna::call_graph_test

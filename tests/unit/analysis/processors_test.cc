// SPDX-License-Identifier: MIT
// Reading on several processors: the same results as on one, in the same order.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "../model/no_symbols.h"
#include "../model/recording_builder.h"
#include "analysis/analyses.h"
#include "analysis/call_parts.h"
#include "filter/selection.h"
#include "model/names/function_chooser.h"

namespace penna::processors_test {
namespace {

// Threads of very different lengths, some without calls, whose functions come in different orders.
Recording made(RecordingBuilder& build, uint32_t threads) {
  std::mt19937 random(3);
  const uint32_t processes[] = {build.process(100), build.process(200)};
  for (uint32_t i = 0; i < threads; ++i) {
    auto& thread = build.thread(processes[i % 2], 1 + i / 2);
    uint64_t time = 100 + i;
    std::vector<uint64_t> open;
    for (uint64_t n = random() % (i % 5 == 0 ? 9000 : 60); n > 0; --n, time += random() % 50) {
      if (open.size() < 6 && random() % 2 == 0) {
        thread.enter(open.emplace_back(0x1000 + random() % 40 * 16), time);
      } else if (!open.empty()) {
        thread.exit(open.back(), time);
        open.pop_back();
      }
      if (random() % 900 == 0) thread.new_chunk();
    }
  }
  return build.open();
}

std::string text_of(const Analyses& made) {
  std::string text;
  for (const FunctionCalls* one : made.calls->by_total())
    text += std::to_string(one->function) + " " + std::to_string(made.calls->functions().place(one->function).address) +
            " " + std::to_string(one->calls) + " " + std::to_string(one->total) + " " + std::to_string(one->self) +
            " " + std::to_string(one->open) + " " + std::to_string(one->unwound) + " " +
            std::to_string(one->duration.percentile(0.5)) + "\n";
  for (const CallNode& node : made.tree->nodes())
    text += std::to_string(node.parent) + " " + std::to_string(node.function) + " " + std::to_string(node.depth) + " " +
            std::to_string(node.calls) + " " + std::to_string(node.total) + " " + std::to_string(node.self) + "\n";
  return text + std::to_string(made.calls->counts().calls) + " " + std::to_string(made.walk.events) + " " +
         std::to_string(made.walk.chunks);
}

// Some of the functions above, by names that are looked up while reading; and two that are not there.
std::shared_ptr<FunctionChooser> choose_functions(Recording& recording) {
  FunctionChoice choice;
  choice.only = {FunctionPattern("*0"), FunctionPattern("[unknown] 0x8f0")};
  choice.never = {FunctionPattern("/0x1[0-3].0/")};
  choice.targets = {FunctionPattern("[unknown] 0x11ff")};
  auto chooser = std::make_shared<FunctionChooser>(std::move(choice), std::make_unique<NoSymbols>());
  CallRules rules;
  rules.ask = [chooser](uint32_t process, uint64_t pc, uint64_t ticks) { return chooser->traits(process, pc, ticks); };
  select_calls(recording, std::move(rules));
  return chooser;
}

std::string with_processors(const Recording& recording, size_t processors) {
  const Summary summary = summarize(recording);
  const CodeMap map(recording);
  AnalysisChoice choice;
  choice.classes = kCallEvents;
  choice.call_tree = true;
  return text_of(analyse(recording, summary, map, choice, nullptr, {}, {}, processors));
}

TEST(Processors, GiveTheSameResultHoweverMany) {
  RecordingBuilder build;
  const Recording recording = made(build, 37);
  const std::string one = with_processors(recording, 1);
  EXPECT_GT(one.size(), 1000u);
  for (const size_t processors : {2, 3, 8}) EXPECT_EQ(with_processors(recording, processors), one) << processors;
}

TEST(Processors, GiveTheSameResultOfFunctionsThatAreChosenByName) {
  std::string one;
  for (const size_t processors : {1, 2, 3, 8})
    for (int round = 0; round < (processors == 1 ? 1 : 6); ++round) {
      RecordingBuilder build;
      Recording recording = made(build, 37);
      const auto chooser = choose_functions(recording);
      std::string text = with_processors(recording, processors);
      for (const std::string& option : chooser->unmet()) text += "\n" + option;
      if (processors == 1) one = text;
      EXPECT_EQ(text, one) << processors;
    }
  EXPECT_NE(one.find("--paths-to"), std::string::npos) << one;
}

TEST(Processors, ShareAllThreadsInOrder) {
  RecordingBuilder build;
  const Recording recording = made(build, 37);
  for (const size_t most : {1, 2, 7, 100}) {
    const std::vector<ThreadRange> parts = split_threads(recording, most);
    EXPECT_LE(parts.size(), most + 1);
    uint32_t next = 0;
    for (const ThreadRange& part : parts) {
      EXPECT_EQ(part.begin, next);
      EXPECT_LT(part.begin, part.end);
      next = part.end;
    }
    EXPECT_EQ(next, recording.threads().size());
  }
}

TEST(Processors, AreNeverMoreThanThereAre) {
  const size_t usable = usable_processors();
  const Helpers some(usable), more(usable);
  EXPECT_EQ(some.count(), usable - 1);
  EXPECT_EQ(more.count(), 0u);
}

}  // namespace
}  // namespace penna::processors_test

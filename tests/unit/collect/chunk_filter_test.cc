// SPDX-License-Identifier: MIT
// ChunkFilter: what it learns and when, chunks that arrive late or twice; ProcessDrain: a thread's chunks in order.
#include "collect/chunk_filter.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "../recording/chunk_builder.h"
#include "collect/process_drain.h"
#include "fake_channel.h"
#include "recording/reader.h"

namespace penna::chunk_filter_test {
namespace {

constexpr uint64_t kNow = 1'000'000, kFunction = 0x5555'0000'1000, kOther = 0x5555'0000'2000;

// Functions of modules that were learnt are chosen by the parity of their module's bias, others are not.
struct Rules : CallRules {
  std::vector<Module> modules;
  Rules() {
    rough = true;
    learn = [this](uint32_t, const Module& module) {
      for (const Module& known : modules)
        if (known.start == module.start && known.bias == module.bias) return false;
      modules.push_back(module);
      return true;
    };
    ask = [this](uint32_t, uint64_t pc, uint64_t) {
      FunctionTraits traits;
      traits.chosen = traits.placed = false;
      for (const Module& module : modules) {
        if (pc < module.start || pc >= module.end) continue;
        traits.placed = true;
        traits.chosen = module.bias % 2 == 1;
      }
      return traits;
    };
  }
};

void add_module(ChunkBuilder& chunk, uint64_t start, uint64_t bias) {
  penna_module module{};
  module.start = start;
  module.end = start + 0x1000;
  module.bias = bias;
  chunk.full(PENNA_KIND_MODULE, kNow, module);
}

std::vector<uint8_t> calls(uint64_t pc, uint64_t sequence = 0) {
  ChunkBuilder chunk(kNow, 1, sequence);
  return chunk.entry(pc, kNow + 10 * sequence).exit(pc, kNow + 10 * sequence + 1).close();
}

uint32_t calls_in(std::span<const uint8_t> chunk) { return scan_chunk(chunk).events[PENNA_CALLS]; }

// Of thread `serial`: a call, a point, a block, and maybe a name.
std::vector<uint8_t> ops(uint32_t serial, uint64_t sequence, const char* name = nullptr) {
  ChunkBuilder chunk(kNow, serial, sequence);
  const uint64_t time = kNow + 10 * sequence;
  if (name != nullptr) {
    penna_thread thread{};
    std::strncpy(thread.name, name, sizeof thread.name - 1);
    chunk.full(PENNA_KIND_THREAD, time, thread);
  }
  chunk.entry(kFunction, time).exit(kFunction, time + 1).full(PENNA_KIND_POINT, time + 2, penna_point{});
  return chunk.alloc(0x1000, 8, 1, time + 3).close();
}

// Calls, allocations and points that are left of a chunk.
std::array<uint32_t, 3> left(ChunkFilter& filter, const std::vector<uint8_t>& chunk) {
  filter.learn(chunk);
  const auto events = scan_chunk(filter.apply(chunk)).events;
  return {events[PENNA_CALLS], events[PENNA_ALLOC], events[PENNA_POINTS]};
}

ChunkFilter of_threads(std::vector<std::string> tids, std::vector<std::string> names) {
  return {0,       nullptr, nullptr,
          nullptr, false,   std::make_shared<const ThreadChoice>(ThreadChoice{std::move(tids), std::move(names)})};
}
constexpr std::array<uint32_t, 3> kAll{2, 1, 1}, kPairedOnly{0, 1, 0};

TEST(ChunkFilter, OfOtherThreadsOnlyWhatIsPairedOverThreadsStays) {
  ChunkFilter filter = of_threads({"4002"}, {});  // as ChunkBuilder numbers them
  EXPECT_TRUE(filter.has_rules());
  EXPECT_EQ(left(filter, ops(1, 0)), kPairedOnly);
  EXPECT_EQ(left(filter, ops(2, 0)), kAll);
  EXPECT_EQ(filter.others_left_out(), 3u);
  EXPECT_EQ(filter.calls_left_out(), 0u) << "calls were counted twice";
}

TEST(ChunkFilter, AThreadThatMayStillGetTheNameIsKeptForAWhile) {
  ChunkFilter filter = of_threads({}, {"bak*"});
  EXPECT_EQ(left(filter, ops(1, 0, "main")), kAll);
  EXPECT_EQ(left(filter, ops(2, 0, "baker")), kAll);
  for (uint64_t i = 1; i < 4; ++i) EXPECT_EQ(left(filter, ops(1, i)), kAll);
  for (uint64_t i = 4; i < 8; ++i) EXPECT_EQ(left(filter, ops(1, i)), kPairedOnly);
  for (uint64_t i = 1; i < 8; ++i) EXPECT_EQ(left(filter, ops(2, i, i == 2 ? "eater" : nullptr)), kAll);
  EXPECT_EQ(filter.late_threads(), 0u);
  const auto before = filter.others_left_out();
  filter.preview(ops(1, 8));
  EXPECT_EQ(filter.others_left_out(), before) << "a chunk that will be seen again must not be counted";
  EXPECT_EQ(left(filter, ops(1, 8, "baking")), kAll);
  EXPECT_EQ(left(filter, ops(1, 9)), kAll);
  EXPECT_EQ(filter.late_threads(), 1u);
}

// With its entry and its exit, or not at all.
TEST(ChunkFilter, ACallIsOfAThreadThatWasWantedWhenItWasEntered) {
  ChunkFilter filter = of_threads({}, {"late"});
  for (uint64_t i = 0; i < 4; ++i) (void)left(filter, ops(1, i));
  ChunkBuilder kept(kNow, 1, 4), named(kNow, 1, 5);
  const std::vector<uint8_t> opens = kept.entry(kOther, kNow + 50).close();
  EXPECT_EQ(left(filter, opens)[0], 0u);
  penna_thread thread{"late"};
  const std::vector<uint8_t> closes = named.full(PENNA_KIND_THREAD, kNow + 60, thread)
                                          .entry(kFunction, kNow + 61)
                                          .exit(kFunction, kNow + 62)
                                          .exit(kOther, kNow + 63)
                                          .close();
  EXPECT_EQ(left(filter, closes)[0], 2u);
}

// Until its module is known a function has no name, and then it is asked about again.
TEST(ChunkFilter, AFilterThatIsSetLaterLearnsWhatWasDescribedBefore) {
  std::vector<Module> known;
  ChosenFunctions functions;
  functions.learn = [&](uint32_t, const Module& module) { return known.push_back(module), true; };
  functions.ask = [&](uint32_t, uint64_t pc, uint64_t) {
    for (const Module& module : known)
      if (pc >= module.start && pc < module.end) return ChosenFunctions::Answer{true};
    return ChosenFunctions::Answer{false};
  };
  const auto changes = std::make_shared<FilterChanges>();
  changes->add(kNow + 10, std::make_shared<const std::vector<Where>>(), functions);
  ChunkFilter filter(0, nullptr, nullptr);
  EXPECT_FALSE(filter.has_rules());
  filter.set_changes(changes);
  EXPECT_TRUE(filter.has_rules());
  EXPECT_EQ(calls_in(filter.apply(calls(kFunction, 0))), 2u) << "before it was set";
  EXPECT_EQ(calls_in(filter.apply(calls(kFunction, 1))), 0u);
  Module module;
  module.start = kFunction;
  module.end = kFunction + 0x100;
  filter.learn(module);
  EXPECT_EQ(calls_in(filter.apply(calls(kFunction, 2))), 2u);
  EXPECT_EQ(calls_in(filter.apply(calls(kOther, 3))), 0u);
  EXPECT_EQ(filter.calls_left_out(), 2u);
}

TEST(ChunkFilter, OpenChunkContinuesWhereItEndedUncounted) {
  CallRules rules;
  rules.rough = true;
  rules.depth = 1;
  ChunkFilter filter(0, nullptr, &rules);
  EXPECT_EQ(calls_in(filter.apply(ChunkBuilder(kNow, 1, 0).entry(kFunction, kNow).close())), 1u);
  const auto piece = [](uint64_t time) { return ChunkBuilder(kNow + time, 1, 1); };
  EXPECT_EQ(calls_in(filter.preview(piece(1).entry(kOther, kNow + 1).leave())), 0u);
  EXPECT_EQ(calls_in(filter.preview(piece(2).exit(kOther, kNow + 2).exit(kFunction, kNow + 3).leave())), 1u);
  EXPECT_EQ(calls_in(filter.preview(piece(4).entry(kOther, kNow + 4).leave())), 1u);
  EXPECT_EQ(calls_in(filter.preview(piece(5).entry(kOther, kNow + 5).leave())), 0u);
  EXPECT_EQ(filter.calls_left_out(), 0u);
  auto whole = ChunkBuilder(kNow, 1, 1);
  whole.entry(kOther, kNow + 1)
      .exit(kOther, kNow + 2)
      .exit(kFunction, kNow + 3)
      .entry(kOther, kNow + 4)
      .entry(kOther, kNow + 5);
  EXPECT_EQ(calls_in(filter.apply(whole.close())), 2u);
  EXPECT_EQ(filter.calls_left_out(), 2u);
  EXPECT_EQ(calls_in(filter.preview(ChunkBuilder(kNow, 1, 2).exit(kOther, kNow + 6).leave())), 0u);
}

// A look at an open chunk may find the budget spent; what the thread weighed before is in the sum all the same.
TEST(ChunkFilter, ALookLeavesTheSumOfTheStatesTrue) {
  CallRules rules;
  rules.rough = true;
  rules.depth = 1;
  const auto open_calls = [](uint32_t thread, uint64_t sequence, uint64_t count) {
    ChunkBuilder chunk(kNow, thread, sequence);
    for (uint64_t i = 0; i < count; ++i) chunk.entry(kFunction + i, kNow + i);
    return chunk.close();
  };
  const auto weight_of = [&](const std::vector<std::pair<uint32_t, uint64_t>>& threads) {
    const auto budget = std::make_shared<Budget>();
    ChunkFilter filter(0, nullptr, &rules, budget);
    for (const auto& [thread, count] : threads) filter.apply(open_calls(thread, 0, count));
    return budget->state_bytes();
  };
  const size_t one = weight_of({{1, 100}}), both = weight_of({{1, 100}, {2, 100}});
  const auto budget = std::make_shared<Budget>(Budget::Limits{64, both, 0});
  ChunkFilter filter(0, nullptr, &rules, budget);
  filter.apply(open_calls(1, 0, 100));
  EXPECT_EQ(budget->state_bytes(), one);
  filter.preview(open_calls(1, 1, 2000));
  EXPECT_TRUE(budget->state_reached());
  EXPECT_EQ(budget->state_bytes(), one);
  filter.apply(open_calls(2, 0, 100));
  EXPECT_EQ(budget->state_bytes(), both);
  filter.apply(open_calls(3, 0, 100));
  EXPECT_EQ(budget->state_bytes(), both) << "the budget has no room for a third";
}

TEST(ChunkFilter, AChunkThatComesLateKeepsItsCalls) {
  CallRules rules;
  rules.rough = true;
  rules.depth = 1;
  ChunkFilter filter(0, nullptr, &rules);
  ChunkBuilder early(kNow, 1, 0), late(kNow + 100, 1, 1);
  early.entry(kFunction, kNow).entry(kOther, kNow + 1);
  late.entry(kOther, kNow + 100).entry(kFunction, kNow + 101);
  EXPECT_EQ(calls_in(filter.apply(late.close())), 1u);
  EXPECT_EQ(calls_in(filter.apply(early.close())), 2u);
}

TEST(ChunkFilter, ThreadsAreJudgedApart) {
  CallRules rules;
  rules.rough = true;
  rules.depth = 1;
  ChunkFilter filter(0, nullptr, &rules);
  EXPECT_EQ(calls_in(filter.apply(ChunkBuilder(kNow, 1).entry(kFunction, kNow).close())), 1u);
  EXPECT_EQ(calls_in(filter.apply(ChunkBuilder(kNow, 2).entry(kFunction, kNow).close())), 1u);
  EXPECT_EQ(calls_in(filter.apply(ChunkBuilder(kNow, 1, 1).entry(kFunction, kNow).close())), 0u);
}

TEST(ChunkFilter, AForkedChildIsJudgedByWhatItsParentHadOpen) {
  CallRules rules;
  rules.rough = true;
  rules.depth = 2;
  ChunkFilter parent(0, nullptr, &rules);
  ChunkBuilder first(kNow, 1, 0), second(kNow + 100, 1, 1);
  (void)parent.apply(first.entry(kFunction, kNow).close(kNow + 10));
  (void)parent.apply(second.exit(kFunction, kNow + 100).close(kNow + 110));
  EXPECT_EQ(parent.open_then().at(1, kNow + 9), nullptr);
  EXPECT_EQ(parent.open_then().at(2, kNow + 10), nullptr);
  const std::vector<uint64_t>* open = parent.open_then().at(1, kNow + 20);
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(*open, std::vector<uint64_t>{kFunction});
  ChunkFilter child(1, nullptr, &rules, nullptr, true);
  child.inherit(*open, kNow + 20);
  ChunkBuilder calls(kNow + 30, 1, 0);
  calls.entry(kOther, kNow + 30).entry(kOther, kNow + 31);
  EXPECT_EQ(calls_in(child.preview(calls.close())), 1u);
  EXPECT_EQ(calls_in(child.apply(calls.close())), 1u);
  EXPECT_EQ(child.calls_left_out(), 1u);
}

TEST(RecentOpenCalls, RemembersAFewTimesOfAFewThreads) {
  RecentOpenCalls then;
  for (uint64_t i = 1; i <= RecentOpenCalls::kMostTimes + 1; ++i) then.note(1, 10 * i, {i});
  EXPECT_EQ(then.at(1, 19), nullptr) << "forgotten";
  ASSERT_NE(then.at(1, 35), nullptr);
  EXPECT_EQ(then.at(1, 35)->front(), 3u);
  then.note(1, 1000, std::vector<uint64_t>(RecentOpenCalls::kMostCalls + 1));
  EXPECT_EQ(then.at(1, 1000), nullptr) << "over the limit, a lookup must not find an older entry";
  for (uint32_t thread = 2; thread < 2 * RecentOpenCalls::kMostThreads; ++thread) then.note(thread, 2000, {});
  EXPECT_EQ(then.at(1, 50), nullptr);
}

TEST(RecentOpenCalls, KeepsWithinTheBudgetOfAllProcesses) {
  const auto budget = std::make_shared<Budget>(Budget::Limits{1, 1, 4096});
  {
    RecentOpenCalls then(budget);
    then.note(1, 10, std::vector<uint64_t>(100, 7));
    ASSERT_NE(then.at(1, 10), nullptr);
    RecentOpenCalls moved = std::move(then);
    EXPECT_NE(moved.at(1, 10), nullptr);
    moved.note(1, 20, std::vector<uint64_t>(1000, 7));
    EXPECT_EQ(moved.at(1, 20), nullptr) << "without room, a lookup must not find the previous entry";
    moved.note(2, 30, std::vector<uint64_t>(300, 7));
    EXPECT_NE(moved.at(2, 30), nullptr) << "memory was not returned to the budget";
    RecentOpenCalls another(budget);
    another.note(1, 40, std::vector<uint64_t>(300, 7));
    EXPECT_EQ(another.at(1, 40), nullptr);
  }
  RecentOpenCalls later(budget);
  for (uint64_t i = 0; i < 1000; ++i) later.note(1, i, std::vector<uint64_t>(30, 7));
  EXPECT_NE(later.at(1, 999), nullptr) << "evicted entries must return their memory";
}

// A chunk with a record that is being written holds up those behind it: their calls lie inside.
TEST(ChunkFilter, ADrainGivesItTheChunksOfAThreadInOrder) {
  const std::string path = testing::TempDir() + "/chunk-filter.penna";
  auto writer = RecordingWriter::create(path, {.overwrite = true});
  ASSERT_TRUE(writer);
  CallRules rules;
  rules.rough = true;
  rules.depth = 1;
  FakeChannel fake;
  fake.seal();
  auto map = ChannelMap::map(fake.memory());
  ASSERT_TRUE(map);
  ProcessDrain drain(std::move(*map), 0, 1, std::make_unique<ChunkFilter>(0, nullptr, &rules));
  const uint64_t enter = penna_call_header(PENNA_TAG_ENTRY, kFunction, 1024),
                 busy = penna_full_header(PENNA_KIND_LOCK, 2, 1024) | PENNA_TAG_BUSY;
  fake.write_chunk(0, 7, 0, {enter, busy, 42});
  fake.hand_over(0, 3);
  fake.write_chunk(1, 7, 1, {enter, enter});
  fake.hand_over(1, 2);
  fake.write_chunk(2, 8, 0, {enter});
  fake.hand_over(2, 1);
  drain.drain(*writer, 10);
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 1u) << "only the other thread's call is stored";
  reinterpret_cast<uint64_t*>(fake.chunk(0) + sizeof(penna_chunk))[1] &= ~uint64_t{3};  // the writer commits
  drain.drain(*writer, 10);
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 2u);
  EXPECT_EQ(drain.filter()->calls_left_out(), 2u);
  drain.finish(*writer, true, EndKind::kExited, 0, 9999);
  ::unlink(path.c_str());
}

// Another thread loads a module, and another one in its place, in a chunk that it is still filling.
TEST(ChunkFilter, ADrainTellsItWhatOpenChunksDescribe) {
  const std::string path = testing::TempDir() + "/chunk-filter.penna";
  auto writer = RecordingWriter::create(path, {.overwrite = true});
  ASSERT_TRUE(writer);
  Rules rules;
  FakeChannel fake;
  fake.seal();
  auto map = ChannelMap::map(fake.memory());
  ASSERT_TRUE(map);
  ProcessDrain drain(std::move(*map), 0, 1, std::make_unique<ChunkFilter>(0, nullptr, &rules));
  ChunkBuilder loading(kNow, 2);
  const auto load = [&](uint64_t bias) {
    add_module(loading, kFunction, bias);
    fake.put_chunk(0, loading.leave());
    ++fake.channel()->descriptions;
  };
  uint32_t chunk = 0;
  uint64_t sequence = 0;
  const auto calls_stored = [&](uint64_t pc) {
    const uint64_t before = drain.counts().stored[PENNA_CALLS];
    fake.put_chunk(++chunk, calls(pc, sequence++));
    fake.channel()->backlog += 1;
    fake.announce(chunk);
    drain.drain(*writer, 10);
    return drain.counts().stored[PENNA_CALLS] - before;
  };
  EXPECT_EQ(calls_stored(kFunction), 0u) << "it is of no module";
  load(1);
  EXPECT_EQ(calls_stored(kFunction), 2u);
  EXPECT_EQ(calls_stored(kOther), 0u);
  load(2);
  EXPECT_EQ(calls_stored(kFunction), 0u) << "it is of the module that was there before";
  load(3);
  EXPECT_EQ(calls_stored(kFunction), 2u);
  drain.finish(*writer, true, EndKind::kExited, 0, 9999);
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace penna::chunk_filter_test

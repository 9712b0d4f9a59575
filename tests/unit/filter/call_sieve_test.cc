// SPDX-License-Identifier: MIT
// CallSieve and ChunkCut: compared with a plain filter that sees the whole call tree at once; and recording with rules,
// then reading with only the limits, equals reading everything with the rules.
#include "filter/call_sieve.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>

#include "recording/chunk_builder.h"

namespace penna::call_sieve_test {
namespace {

constexpr uint64_t kCode = 0x5555'0000'0000;  // as ChunkBuilder
constexpr uint64_t kStart = 1'000'000;

struct Step {
  enum Kind { kEnter, kExit, kAlloc, kLost, kModule, kValues } kind;
  uint64_t pc, time;
  bool operator==(const Step&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << "EXALMV"[step.kind] << step.pc % 0x1000 << "@" << step.time - kStart;
}
using Steps = std::vector<Step>;
using Chunks = std::vector<std::vector<uint8_t>>;

Chunks write(const Steps& steps, size_t most) {
  Chunks chunks;
  std::unique_ptr<ChunkBuilder> chunk;
  size_t count = 0;
  for (const Step& step : steps) {
    if (!chunk || count == most || !chunk->has_room(96)) {
      if (chunk) chunks.push_back(chunk->close(step.time));
      chunk = std::make_unique<ChunkBuilder>(step.time, 1, chunks.size());
      count = 0;
    }
    ++count;
    switch (step.kind) {
      case Step::kEnter: chunk->entry(step.pc, step.time); break;
      case Step::kExit: chunk->exit(step.pc, step.time); break;
      case Step::kAlloc: chunk->alloc(step.pc, 8, 1, step.time); break;
      case Step::kValues:
        chunk->full(PENNA_KIND_VALUES, step.time, penna_values{static_cast<uint32_t>(step.pc), 0, 0});
        break;
      case Step::kLost: chunk->full(PENNA_KIND_LOST, step.time, penna_lost{{1, 0, 0, 0}}); break;
      case Step::kModule: {
        penna_module module{};
        module.start = step.pc;
        module.end = step.pc + 1;
        chunk->full(PENNA_KIND_MODULE, step.time, module);
      }
    }
  }
  if (chunk) chunks.push_back(chunk->close());
  return chunks;
}

void read_into(std::span<const uint8_t> chunk, Steps& steps) {
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    switch (record.kind) {
      case PENNA_KIND_CALL_ENTRY: steps.push_back({Step::kEnter, record.pc, record.time}); break;
      case PENNA_KIND_CALL_EXIT: steps.push_back({Step::kExit, record.pc, record.time}); break;
      case PENNA_KIND_ALLOC:
        steps.push_back({Step::kAlloc, record.as<penna_alloc>().address_family, record.time});
        break;
      case PENNA_KIND_VALUES: steps.push_back({Step::kValues, record.as<penna_values>().site, record.time}); break;
      case PENNA_KIND_LOST: steps.push_back({Step::kLost, 0, record.time}); break;
      default: steps.push_back({Step::kModule, record.as<penna_module>().start, record.time});
    }
  }
  EXPECT_FALSE(in.damaged());
}

// As a reader: chunks are looked at when all is decided of them.
Steps sift(const Chunks& chunks, const CallRules& rules) {
  CallSieve sieve(rules, 0);
  for (const auto& chunk : chunks) sieve.add(chunk);
  sieve.finish();
  Steps steps;
  for (const auto& chunk : chunks) {
    EXPECT_TRUE(sieve.ready());
    const SiftedChunk sifted = sieve.take();
    for (size_t i = 0; i < sifted.opened.size(); ++i)
      if (!sifted.opened_out[i]) steps.push_back({Step::kEnter, sifted.opened[i], rules.begin});
    std::vector<uint8_t> left;
    sifted.cut.apply(chunk, left);
    read_into(left, steps);
    for (uint64_t pc : sifted.closed) steps.push_back({Step::kExit, pc, rules.end});
  }
  return steps;
}

// As a recorder: each chunk is decided when it comes.
Chunks record(const Chunks& chunks, const CallRules& rules) {
  CallSieve sieve(rules, 0);
  Chunks left;
  for (const auto& chunk : chunks) {
    sieve.add(chunk);
    EXPECT_TRUE(sieve.ready());
    sieve.take().cut.apply(chunk, left.emplace_back());
  }
  return left;
}

// ---- The plain filter: a tree of calls, every rule a line.

struct Call {
  uint64_t pc = 0, begin = 0, end = UINT64_MAX;  // no end: open
  std::vector<std::unique_ptr<Call>> inner;
};
Call tree_of(const Steps& steps) {
  Call root;
  std::vector<Call*> open{&root};
  for (const Step& step : steps) {
    if (step.kind == Step::kEnter) {
      auto& call = open.back()->inner.emplace_back(std::make_unique<Call>());
      call->pc = step.pc;
      call->begin = step.time;
      open.push_back(call.get());
    } else {
      open.back()->end = step.time;
      open.pop_back();
    }
  }
  return root;
}

struct Plain {
  const CallRules& rules;
  uint64_t last;  // time of the last record
  Steps steps;
  bool on;
  Plain(const CallRules& given, const Steps& all) : rules(given), last(all.back().time), on(!given.starts_off) {}
  void go(const Call& call) { go(call, false, 0, false, rules.depth, rules.min_ticks); }
  void go(const Call& call, bool inside, uint32_t level, bool hidden, uint32_t limit, uint64_t min_ticks) {
    if (call.begin >= rules.end) return;
    const FunctionTraits traits = rules.ask(0, call.pc, call.begin);
    hidden |= traits.hidden;
    if (traits.on && !hidden) on = true;
    if (traits.off && !hidden) on = false;
    inside |= traits.caller;
    if (traits.depth != FunctionTraits::kUnset && !hidden) limit = level + traits.depth;
    bool kept = on && !hidden && traits.chosen && level < limit && (inside || !rules.inside_callers);
    if (kept && traits.min_ticks != FunctionTraits::kUnsetTicks) min_ticks = traits.min_ticks;
    level += kept;
    const bool has_exit = call.end < rules.end;
    if (has_exit && call.end - call.begin < min_ticks) kept = false;
    if (call.end < rules.begin || last < rules.begin) kept = false;
    if (kept) steps.push_back({Step::kEnter, call.pc, std::max(call.begin, rules.begin)});
    const size_t before = steps.size();
    for (const auto& inner : call.inner) go(*inner, inside, level, hidden, limit, min_ticks);
    if (kept && rules.only_paths && !traits.target && steps.size() == before) {  // leads nowhere
      steps.pop_back();
      kept = false;
    }
    if (kept && has_exit) steps.push_back({Step::kExit, call.pc, call.end});
    if (kept && !has_exit && last >= rules.end) steps.push_back({Step::kExit, call.pc, rules.end});
  }
};

CallRules random_rules(std::mt19937_64& random, uint64_t span) {
  CallRules rules;
  // A set that each function is in with probability 1 / 2^halvings.
  const auto some = [&](int halvings) {
    uint64_t set = random();
    while (--halvings > 0) set &= random();
    return set;
  };
  const uint64_t chosen = ~some(2), callers = some(2), on = some(3), off = some(3), hidden = some(3), targets = some(2),
                 deep = some(4), timed = some(3);
  const bool triggers = random() % 3 == 0, hides = random() % 2 == 0, limits = random() % 2 == 0;
  rules.ask = [=](uint32_t, uint64_t pc, uint64_t) {
    const auto bit = [&](uint64_t of) { return (of >> (pc % 16) & 1) != 0; };
    FunctionTraits traits{bit(chosen), bit(callers), triggers && bit(on), triggers && bit(off)};
    traits.hidden = hides && bit(hidden);
    traits.target = bit(targets);
    if (limits && bit(deep)) traits.depth = static_cast<uint32_t>(1 + pc % 3);
    if (limits && bit(timed)) traits.min_ticks = pc % 5 * 8;
    traits.chosen |= limits && bit(timed);  // as FunctionChooser does
    return traits;
  };
  rules.inside_callers = random() % 2 == 0;
  rules.only_paths = random() % 2 == 0;
  rules.starts_off = triggers && random() % 2 == 0;
  if (random() % 2 == 0) rules.depth = static_cast<uint32_t>(1 + random() % 4);
  if (random() % 2 == 0) rules.min_ticks = 1 + random() % (random() % 2 == 0 ? 20 : 300);
  if (random() % 3 == 0) rules.begin = kStart + random() % span;
  if (random() % 3 == 0) rules.end = std::max(rules.begin, kStart) + 1 + random() % span;
  return rules;
}

Steps random_calls(std::mt19937_64& random, int count) {
  Steps steps;
  std::vector<uint64_t> open;
  uint64_t time = kStart;
  for (int i = 0; i < count; ++i) {
    time += random() % 8 == 0 ? random() % 60 : random() % 4;
    if (open.size() < 8 && (open.empty() || random() % 2 == 0)) {
      open.push_back(kCode + random() % 16);
      steps.push_back({Step::kEnter, open.back(), time});
    } else {
      steps.push_back({Step::kExit, open.back(), time});
      open.pop_back();
    }
  }
  return steps;
}

TEST(CallSieve, KeepsWhatAPlainFilterOfTheWholeTreeKeeps) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const Steps steps = random_calls(random, 300);
    const CallRules rules = random_rules(random, steps.back().time - kStart);
    Plain plain(rules, steps);
    for (const auto& call : tree_of(steps).inner) plain.go(*call);
    ASSERT_EQ(sift(write(steps, 1 + random() % 40), rules), plain.steps) << "seed " << seed;
  }
}

// Behind each entry what the function is called with, in front of each exit what it gives back.
Steps with_values(const Steps& calls) {
  Steps steps;
  for (const Step& step : calls) {
    const Step values{Step::kValues, static_cast<uint32_t>(step.pc), step.time};
    if (step.kind == Step::kExit) steps.push_back(values);
    steps.push_back(step);
    if (step.kind == Step::kEnter) steps.push_back(values);
  }
  return steps;
}

TEST(CallSieve, ValuesGoTheWayOfTheirCall) {
  size_t kept = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const Steps calls = random_calls(random, 300);
    CallRules rules = random_rules(random, calls.back().time - kStart);
    rules.begin = 0;         // in front of it there are entries without their values,
    rules.end = UINT64_MAX;  // and behind it ends
    const size_t most = 1 + random() % 40;
    const Steps left = sift(write(with_values(calls), most), rules);
    ASSERT_EQ(left, with_values(sift(write(calls, most), rules))) << "seed " << seed;
    kept += left.size();
  }
  EXPECT_GT(kept, 1000u);
}

// Missing exits and entries, losses, other events.
Steps random_steps(std::mt19937_64& random, int count) {
  Steps steps = random_calls(random, count), some;
  for (const Step& step : steps) {
    const uint64_t dice = random() % 40;
    if (dice == 0) continue;
    if (dice == 1) some.push_back({Step::kExit, kCode + random() % 16, step.time});
    if (dice == 2) some.push_back({Step::kLost, 0, step.time});
    if (dice == 3) some.push_back({Step::kModule, 7, step.time});
    if (dice < 9) some.push_back({Step::kAlloc, 0x1000 + dice, step.time});
    some.push_back(step);
    if (dice > 30) some.push_back({Step::kValues, dice, step.time});
  }
  return some;
}

CallRules limits_of(const CallRules& rules) {
  CallRules limits;
  limits.recorded_min_ticks = rules.min_ticks;
  limits.finishes = rules.finishes;
  limits.begin = rules.begin;
  limits.end = rules.end;
  limits.only_paths = rules.only_paths;
  limits.ask = [all = rules.ask](uint32_t process, uint64_t pc, uint64_t ticks) {
    FunctionTraits traits;
    traits.target = all(process, pc, ticks).target;
    traits.recorded_min_ticks = all(process, pc, ticks).min_ticks;
    return traits;
  };
  return limits;
}

TEST(CallSieve, RecordedWithRulesIsReadAsIfAllWereRecorded) {
  uint64_t kept = 0, all = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const Steps steps = random_steps(random, 300);
    CallRules rules = random_rules(random, steps.back().time - kStart);
    CallRules rough = rules;
    rough.rough = true;
    rough.finishes = random() % 3 == 0;
    const uint64_t last = kCode + random() % 16, doubt = random() % 4;
    rough.ask = [all = rules.ask, last, doubt](uint32_t process, uint64_t pc, uint64_t ticks) {
      FunctionTraits traits = all(process, pc, ticks);
      if (traits.min_ticks != FunctionTraits::kUnsetTicks) traits.min_ticks -= traits.min_ticks * doubt / 8;
      traits.finish = pc == last;
      return traits;
    };
    rough.min_ticks -= rough.min_ticks == 0 ? 0 : random() % rough.min_ticks;
    if (rough.begin != 0) rough.begin -= random() % 30;
    if (rough.end != UINT64_MAX) {
      rough.earliest_end = rough.end - random() % 30;
      rough.end += random() % 30;
    }
    // Who reads the recording knows when the function was entered first that has ended it.
    const auto finish = std::find_if(steps.begin(), steps.end(),
                                     [&](const Step& step) { return step.kind == Step::kEnter && step.pc == last; });
    if (rough.finishes && finish != steps.end() && finish->time < rules.end) {
      rules.end = finish->time + 1;
      rules.finishes = true;
    }
    const Chunks chunks = write(steps, 1 + random() % 60), recorded = record(chunks, rough);
    const Steps want = sift(chunks, rules), got = sift(recorded, limits_of(rules));
    // What is no event stays in a recording, whenever it was.
    const size_t same =
        static_cast<size_t>(std::mismatch(got.begin(), got.end(), want.begin(), want.end()).first - got.begin());
    ASSERT_EQ(got, want) << "seed " << seed << ", from step " << same << ": "
                         << testing::PrintToString(Steps(got.begin() + static_cast<ptrdiff_t>(same), got.end()))
                         << " instead of "
                         << testing::PrintToString(Steps(want.begin() + static_cast<ptrdiff_t>(same), want.end()))
                         << "; depth " << rules.depth << ", length " << rules.min_ticks << " (rough " << rough.min_ticks
                         << "), range " << rules.begin << " to " << rules.end
                         << "; all: " << testing::PrintToString(Steps(steps.begin(), steps.end()));
    Steps stored;
    for (const auto& chunk : recorded) read_into(chunk, stored);
    kept += stored.size();
    all += steps.size();
  }
  EXPECT_LT(kept, all * 2 / 3);
}

TEST(CallSieve, ReadTwiceIsReadOnce) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    CallRules rules;
    rules.min_ticks = random() % 3 == 0 ? 0 : 1 + random() % 100;
    rules.only_paths = rules.min_ticks == 0 || random() % 2 == 0;
    rules.ask = [](uint32_t, uint64_t pc, uint64_t) {
      FunctionTraits traits;
      traits.target = pc % 5 == 0;
      return traits;
    };
    const Steps once = sift(write(random_steps(random, 300), 17), rules);
    ASSERT_EQ(sift(write(once, 23), rules), once) << "seed " << seed;
  }
}

// ---- What the rules say where calls are not paired.

const CallRules& only(std::initializer_list<uint64_t> pcs, CallRules& rules) {
  rules.ask = [chosen = std::vector<uint64_t>(pcs)](uint32_t, uint64_t pc, uint64_t) {
    FunctionTraits traits;
    traits.chosen = std::find(chosen.begin(), chosen.end(), pc) != chosen.end();
    return traits;
  };
  return rules;
}
Step enter(uint64_t pc, uint64_t at) { return {Step::kEnter, pc, kStart + at}; }
Step leave(uint64_t pc, uint64_t at) { return {Step::kExit, pc, kStart + at}; }
constexpr uint64_t A = kCode + 1, B = kCode + 2, C = kCode + 3;

// A leads to B, C does not; and B calls C.
TEST(CallSieve, PathsLeadToATargetAndEndThere) {
  CallRules rules;
  rules.only_paths = true;
  rules.ask = [](uint32_t, uint64_t pc, uint64_t) {
    FunctionTraits traits;
    traits.target = pc == B;
    return traits;
  };
  const Steps all{enter(A, 0), enter(C, 1), leave(C, 2), enter(B, 3), enter(C, 4),
                  leave(C, 5), leave(B, 6), leave(A, 7), enter(A, 8), leave(A, 9)};
  const Steps path{enter(A, 0), enter(B, 3), leave(B, 6), leave(A, 7)};
  EXPECT_EQ(sift(write(all, 1), rules), path);
  EXPECT_EQ(sift(write(all, 100), rules), path);
  // What was open where the recording ends led nowhere; where events are missing, nobody knows.
  EXPECT_EQ(sift(write({enter(A, 0), enter(C, 1)}, 1), rules), Steps{});
  const Step lost{Step::kLost, 0, kStart + 2};
  EXPECT_EQ(sift(write({enter(A, 0), lost, leave(A, 3)}, 1), rules), (Steps{enter(A, 0), lost, leave(A, 3)}));
  // What lies in front of the range is no way into it; what goes on in it is.
  rules.begin = kStart + 7;
  EXPECT_EQ(sift(write(all, 1), rules), Steps{});
  rules.begin = kStart + 5;
  EXPECT_EQ(sift(write(all, 1), rules), (Steps{enter(A, 5), enter(B, 5), leave(B, 6), leave(A, 7)}));
}

TEST(CallSieve, WhatAHiddenFunctionCallsIsHidden) {
  CallRules rules;
  rules.starts_off = true;
  rules.ask = [](uint32_t, uint64_t pc, uint64_t) {
    FunctionTraits traits;
    traits.hidden = pc == B;
    traits.on = pc == C;
    return traits;
  };
  const Steps inside{enter(B, 1), enter(C, 2), leave(A, 3), leave(C, 4), leave(B, 5)};
  Steps all = inside;
  EXPECT_EQ(sift(write(all, 2), rules), Steps{});  // nor does it turn anything on
  const Steps behind{enter(C, 6), enter(A, 7), leave(A, 8), leave(C, 9)};
  all.insert(all.end(), behind.begin(), behind.end());
  EXPECT_EQ(sift(write(all, 2), rules), behind);
}

TEST(CallSieve, ACallThatALeftOutCallerEndsIsLeftWithIt) {
  CallRules rules;
  only({B, C}, rules);
  // B and C have no exits: A, who called longjmp's setjmp, does not stay.
  EXPECT_EQ(sift(write({enter(A, 0), enter(B, 1), enter(C, 2), leave(A, 5), enter(C, 6), leave(C, 7)}, 100), rules),
            (Steps{enter(B, 1), enter(C, 2), leave(C, 5), leave(B, 5), enter(C, 6), leave(C, 7)}));
  rules.min_ticks = 4;
  EXPECT_EQ(sift(write({enter(A, 0), enter(B, 1), enter(C, 2), leave(A, 5)}, 2), rules),
            (Steps{enter(B, 1), leave(B, 5)}));
  rules.min_ticks = 5;
  EXPECT_EQ(sift(write({enter(A, 0), enter(B, 1), enter(C, 2), leave(A, 5)}, 2), rules), Steps{});
}

TEST(CallSieve, StrayExitsOfKeptFunctionsStay) {
  CallRules rules;
  only({B}, rules);
  EXPECT_EQ(sift(write({leave(A, 0), leave(B, 1), enter(B, 2), leave(C, 3), leave(B, 4)}, 100), rules),
            (Steps{leave(B, 1), enter(B, 2), leave(B, 4)}));
}

TEST(CallSieve, WhatGoesOnAmidCallsThatNobodyToldIsKept) {
  CallRules rules;
  rules.inside_callers = rules.starts_off = true;
  rules.ask = [](uint32_t, uint64_t, uint64_t) { return FunctionTraits{}; };
  const Steps steps = {
      {Step::kEnter, kCode + 1, kStart}, {Step::kExit, kCode + 1, kStart + 1}, {Step::kExit, kCode + 2, kStart + 2}};
  const auto chunks = write(steps, 8);
  for (const bool amid : {false, true}) {
    CallSieve sieve(rules, 0, amid);
    sieve.add(chunks[0]);
    sieve.finish();
    EXPECT_EQ(sieve.take().cut.changes(), !amid);
  }
}

TEST(CallSieve, CallsOverALossAreNotJudgedByTheirLength) {
  CallRules rules;
  rules.min_ticks = 100;
  const Step lost{Step::kLost, 0, kStart + 2};
  EXPECT_EQ(sift(write({enter(A, 0), enter(B, 1), lost, leave(B, 3), enter(C, 4), leave(C, 5), leave(A, 6)}, 3), rules),
            (Steps{enter(A, 0), enter(B, 1), lost, leave(B, 3), leave(A, 6)}));
}

TEST(CallSieve, OtherEventsStayWhateverHappensToCalls) {
  CallRules rules;
  rules.min_ticks = 100;
  const Step alloc{Step::kAlloc, 0x70, kStart + 2};
  EXPECT_EQ(sift(write({enter(A, 0), enter(B, 1), alloc, leave(B, 3), leave(A, 99)}, 100), rules), Steps{alloc});
}

TEST(CallSieve, WhatIsOpenAtTheEndStays) {
  CallRules rules;
  rules.min_ticks = 100;
  EXPECT_EQ(sift(write({enter(A, 0), enter(B, 1), leave(B, 2), enter(C, 3)}, 1), rules),
            (Steps{enter(A, 0), enter(C, 3)}));
}

TEST(CallSieve, FunctionsAreAskedForAgainWhenAddressesAreReused) {
  CallRules rules;
  int asked = 0;
  bool lasting = true;
  rules.ask = [&](uint32_t, uint64_t, uint64_t) {
    ++asked;
    FunctionTraits traits;
    traits.lasting = lasting;
    return traits;
  };
  const Chunks chunk = write({enter(A, 0), leave(A, 1), enter(A, 2), leave(A, 3)}, 100);
  CallSieve sieve(rules, 0);
  sieve.add(chunk[0]);
  EXPECT_EQ(asked, 1);
  ++rules.epoch;
  sieve.add(chunk[0]);
  EXPECT_EQ(asked, 2);
  lasting = false;
  ++rules.epoch;
  sieve.add(chunk[0]);
  EXPECT_EQ(asked, 4) << "each call";
}

TEST(CallSieve, DeeperThanIsFollowedIsKeptAndBounded) {
  CallRules rules;
  rules.depth = 1;
  CallSieve sieve(rules, 0);
  Steps calls(CallSieve::kMaxDepth + 1000, enter(A, 0));
  size_t kept = 0;
  for (const auto& chunk : write(calls, SIZE_MAX)) {
    sieve.add(chunk);
    std::vector<uint8_t> left;
    sieve.take().cut.apply(chunk, left);
    kept += (left.size() - sizeof(penna_chunk)) / 8;
  }
  EXPECT_EQ(kept, 1 + 1000u);
}

// ---- ChunkCut

TEST(CallSieve, WhatIsForgottenIsNotInMemory) {
  CallRules rules;
  rules.rough = true;
  rules.ask = [](uint32_t, uint64_t, uint64_t) { return FunctionTraits{}; };
  CallSieve sieve(rules, 0);
  const size_t before = sieve.bytes();
  ChunkBuilder chunk(kStart);
  for (uint64_t i = 0; i < 1000; ++i) chunk.entry(kCode + i, kStart + i);
  sieve.add(chunk.close());
  (void)sieve.take();
  EXPECT_GT(sieve.bytes(), before + 1000 * sizeof(uint64_t));
  sieve.forget();
  EXPECT_EQ(sieve.bytes(), before);
}

TEST(ChunkCut, WhatIsNoRecordStaysAsItIs) {
  ChunkBuilder build;
  const size_t first = build.size();
  build.entry(A, kStart).exit(A, kStart + 1);
  build.full(PENNA_KIND_LOCK, kStart + 2, penna_lock{5}, "", PENNA_TAG_BUSY);  // torn
  build.word(0).word(0);                                                       // a hole
  build.entry(B, kStart + 3);
  const std::vector<uint8_t> chunk = build.close();
  ChunkCut cut;
  cut.leave_out(first);
  std::vector<uint8_t> left;
  cut.apply(chunk, left);
  const ChunkSummary before = scan_chunk(chunk), after = scan_chunk(left);
  EXPECT_EQ(after.events[PENNA_CALLS], before.events[PENNA_CALLS] - 1);
  EXPECT_EQ(after.torn, 1u);
  EXPECT_EQ(after.holes, 1u);
  EXPECT_EQ(after.content_bytes, before.content_bytes - 8);
  EXPECT_EQ(left.size(), after.content_bytes);
}

TEST(ChunkCut, AChunkThatNeverSaidWhereItEndsStillDoesNot) {
  ChunkBuilder build;
  const size_t first = build.size();
  build.entry(A, kStart).exit(A, kStart + 1).entry(B, kStart + 2);
  ChunkCut cut;
  cut.leave_out(first);
  std::vector<uint8_t> left;
  cut.apply(build.leave(), left);
  const ChunkSummary after = scan_chunk(left);
  EXPECT_EQ(after.events[PENNA_CALLS], 2u);
  EXPECT_EQ(after.holes, 0u);
  EXPECT_EQ(after.content_bytes, sizeof(penna_chunk) + 16);
}

TEST(ChunkCut, AnExitOfFarCodeTakesTheFullForm) {
  constexpr uint64_t kFar = 0x7fff'0000'1000;
  ChunkBuilder build;
  const size_t first = build.size();
  build.entry(A, kStart).exit(A, kStart + 9);
  const std::vector<uint8_t> chunk = build.close();
  ChunkCut cut;
  cut.leave_out(first);
  cut.replace_exit(first + 8, {kFar});
  std::vector<uint8_t> left;
  cut.apply(chunk, left);
  Steps steps;
  read_into(left, steps);
  EXPECT_EQ(steps, (Steps{leave(kFar, 9)}));
}

TEST(ChunkCut, WhereThereIsNoRoomForAllTheOutermostExitHasIt) {
  ChunkBuilder build;
  build.entry(A, kStart);
  while (build.has_room(32)) build.entry(B, kStart);
  const size_t last = build.size();
  build.exit(A, kStart + 9).exit(C, kStart + 9);
  const std::vector<uint8_t> chunk = build.close();
  ASSERT_EQ(chunk.size() - build.size(), 8u);
  ChunkCut cut;
  cut.replace_exit(last, {B, B, B, A});
  std::vector<uint8_t> left;
  cut.apply(chunk, left);
  Steps steps;
  read_into(left, steps);
  ASSERT_EQ(left.size(), size_t{PENNA_CHUNK_BYTES});
  EXPECT_EQ(Steps(steps.end() - 3, steps.end()), (Steps{leave(B, 9), leave(A, 9), leave(C, 9)}));
}

TEST(ChunkCut, AnyBytesAreSafe) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<uint8_t> chunk(random() % 4000);
    for (auto& byte : chunk) byte = static_cast<uint8_t>(random() % 4 == 0 ? random() : random() % 8);
    CallRules rules = random_rules(random, 1000);
    rules.rough = random() % 2 == 0;
    CallSieve sieve(rules, 0);
    sieve.add(chunk);
    sieve.finish();
    ASSERT_TRUE(sieve.ready());
    std::vector<uint8_t> left;
    sieve.take().cut.apply(chunk, left);
    ASSERT_LE(left.size(), std::max(chunk.size(), size_t{PENNA_CHUNK_BYTES}));
    (void)scan_chunk(left);
  }
}

}  // namespace
}  // namespace penna::call_sieve_test

// SPDX-License-Identifier: MIT
// A small recording with all four kinds of event, and names for it: the input of the golden tests of reports and
// exports.
//
// One process (pid 100) with two threads. "main" (tid 1001) calls work() twice; work() allocates from two stacks, frees
// one block, hits a point; the second call is left by longjmp. "worker" (tid 1002) waits for a lock that main holds.
// One tick is one nanosecond; everything begins at 1000.
#pragma once

#include "../model/recording_builder.h"
#include "model/names/names.h"

namespace penna {

inline constexpr uint64_t kSampleCode = 0x100000, kSampleLock = 0x108000, kSampleCondition = 0x108040;

// Functions of 0x100 bytes at 0x100000: main, work, grow, helper (inlined into grow), outer; one variable, at 0x8000.
class SampleSymbols : public SymbolSource {
 public:
  std::vector<SourceFrame> code(const NamedFile&, uint64_t address) override {
    static const char* const kNames[] = {"main", "work(int)", "grow", "take_lock"};
    const uint64_t index = address >> 8;
    if (index >= std::size(kNames)) return {};
    const auto line = static_cast<uint32_t>(10 * (index + 1));
    if (index == 2) return {{"helper", "src/helper.h", 5, true}, {"grow", "src/app.c", line, false}};
    return {{kNames[index], "src/app.c", line, false}};
  }
  std::optional<uint64_t> function_start(const NamedFile&, uint64_t address) override {
    return address & ~uint64_t{0xff};
  }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t address) override {
    if (address == 0x8000) return DataSymbol{"counter_lock", 0};
    if (address == 0x8040) return DataSymbol{"ready", 0};
    return std::nullopt;
  }
  bool is_entry(const NamedFile&, uint64_t address) override { return address >> 8 == 0xe; }
  std::string problem(const NamedFile&) override { return ""; }
};

// The program that has them.
inline Module sample_module() {
  Module module;
  module.path = "/bin/program";
  module.bias = module.start = kSampleCode;
  module.end = kSampleCode + 0x10000;
  return module;
}

inline Recording sample_recording(RecordingBuilder& build) {
  const uint32_t process = build.process(100, 1, 1000);
  build.module(process, sample_module());
  Site site;
  site.id = 1;
  site.line = 42;
  site.provider = "db";
  site.name = "query";
  site.file = "src/app.c";
  site.arguments = {{PENNA_ARG_INT, "rows"}, {PENNA_ARG_STRING, "table"}};
  build.site(process, site);
  const uint64_t main = kSampleCode, work = kSampleCode + 0x100;
  const uint32_t from_work = build.stack(process, 1, {work + 0x20, main + 0x10});
  const uint32_t from_grow = build.stack(process, 3, {kSampleCode + 0x220, work + 0x30, main + 0x10});
  const uint32_t from_wait = build.stack(process, 6, {kSampleCode + 0x320}, PENNA_STACK_NO_RULE);

  ThreadBuilder& first = build.thread(process, 1);
  first.enter(main, 1000);
  first.lock(kSampleLock, 1100);
  first.enter(work, 2000);
  first.alloc(0x500000, 1000, 2100, from_work);
  first.alloc(0x510000, 64, 2200, from_grow, PENNA_FAMILY_CALLOC);
  first.free(0x510000, 2300);
  first.point(1, 2400, {7, uint64_t{5}, 0x72653b7375});  // "us;er"
  first.exit(work, 4000);
  first.unlock(kSampleLock, 4100);
  first.enter(work, 5000);
  first.alloc(0x520000, 2'000'000, 5100, from_grow);
  first.exit(main, 1'001'000);  // work() was left by longjmp

  ThreadBuilder& second = build.thread(process, 2);
  second.lock_wait(kSampleLock, 1500, 4200, from_wait, 1001);
  second.unlock(kSampleLock, 4300);
  second.lock(kSampleLock, 4400);
  second.unlock(kSampleLock, 4500);
  second.cond_wait(kSampleLock, kSampleCondition, 4500, 9500, PENNA_WAIT_TIMEOUT);
  second.unlock(kSampleLock, 9600);

  ProcessEnd end;
  end.number = process;
  end.end_ticks = 1'001'000;
  end.how = EndKind::kExited;
  build.end(end);
  const Thread names[] = {{1, 1001, "main", 1000}, {2, 1002, "worker", 1000}};
  if (!build.writer().write_threads(process, names)) std::abort();
  return build.open();
}

}  // namespace penna

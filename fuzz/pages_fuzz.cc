// SPDX-License-Identifier: MIT
// Every page that a target shares with its recorder, in every state: while the recorder works, when the process ends,
// when the recorder is stopped, and while the file is closed. The recorder must survive, stay within its memory budget,
// and leave an intact recording.
//
// Input: decisions of a HostileTarget. The first selects the mode: step by step, with each state seen by one part of
// the recorder; or with the whole collector, while another thread writes continuously (so between a check and the use
// of what was checked).
// PENNA_FUZZ_STATES=1000000 build/fuzz/fuzz/pages_fuzz: ends after so many states, and prints their number, and the
// peak memory.
#include <sanitizer/allocator_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "collect/collector.h"
#include "collect/doorbell.h"
#include "collect/process_drain.h"
#include "hostile_target.h"
#include "must_be_readable.h"

using namespace penna;

namespace {

constexpr Budget::Limits kLimits{64, 1 << 20, 512 << 10};
// The budget; plus a channel's fixed buffers, one decoded chunk, and the allocator's own memory.
constexpr size_t kMostHeap = (1 << 20) + (512 << 10) + (4 << 20);

struct States {
  uint64_t count = 0;
  size_t most_heap = 0;
  void end_if_enough() const {
    static const char* const text = std::getenv("PENNA_FUZZ_STATES");
    static const uint64_t wanted = text != nullptr ? std::strtoull(text, nullptr, 10) : UINT64_MAX;
    if (count < wanted) return;
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    std::printf("%llu states; most heap of the recorder %zu KiB; most memory of all %ld MiB\n",
                static_cast<unsigned long long>(count), most_heap >> 10, usage.ru_maxrss >> 10);
    std::fflush(stdout);
    ::_exit(0);  // libFuzzer treats exit() as a crash
  }
} states;

// Memory allocated since construction.
class Heap {
 public:
  void check() {
    ++states.count;
    const size_t now = __sanitizer_get_current_allocated_bytes();
    const size_t held = now > before_ ? now - before_ : 0;
    states.most_heap = std::max(states.most_heap, held);
    if (held <= kMostHeap) return;
    std::fprintf(stderr, "the recorder holds %zu bytes; its budget is %zu\n", held, kMostHeap);
    __sanitizer_print_memory_profile(95, 12);
    std::abort();
  }

 private:
  size_t before_ = __sanitizer_get_current_allocated_bytes();
};

// Sees everything, keeps nothing.
class Watcher final : public Observer {
 public:
  void began(const Process&) override {}
  void records(uint32_t, std::span<const uint8_t> chunk) override { (void)scan_chunk(chunk); }
  void stacks(uint32_t, uint32_t, std::span<const penna_stack_node> nodes) override {
    for (const penna_stack_node& node : nodes) sum_ ^= node.parent;
  }
  void ended(const ProcessEnd& end) override { sum_ ^= end.counters.threads; }
  void up_to_date() override { asm volatile("" : : "r"(sum_)); }

 private:
  uint64_t sum_ = 0;
};

CallRules rules_of(Decisions& decide) {
  CallRules rules;
  if (decide.one_in(4)) return rules;
  rules.rough = true;
  if (decide.one_in(2)) rules.min_ticks = decide.below(20);
  if (decide.one_in(2)) rules.depth = decide.below(8);
  if (decide.one_in(4)) rules.begin = decide.border();
  if (decide.one_in(4)) rules.end = decide.border();
  rules.inside_callers = decide.one_in(2);
  rules.ask = [](uint32_t, uint64_t pc, uint64_t) {
    FunctionTraits traits{};
    traits.chosen = pc % 3 != 0;
    traits.caller = pc % 5 == 0;
    traits.placed = pc % 7 != 0;
    traits.snapshot = pc % 11 == 0;
    return traits;
  };
  rules.learn = [](uint32_t, const Module& module) { return module.start % 8192 != 0; };
  return rules;
}

std::vector<Where> conditions_of(Decisions& decide) {
  std::vector<Where> conditions;
  if (decide.one_in(2)) conditions.push_back(*Where::parse("arg1 > 5 || arg2 ~ 'x*'"));
  return conditions;
}

RecordingWriter new_writer(const std::string& path) {
  auto writer = RecordingWriter::create(path, {.overwrite = true});
  if (!writer) std::abort();
  return std::move(*writer);
}

penna_config asked_of() {
  penna_config asked{};
  asked.chunk_count = FakeChannel::kChunks;
  asked.max_nodes = FakeChannel::kNodes;
  return asked;
}

// ---- Step by step

void step(Decisions& decide, ProcessDrain& drain, RecordingWriter& writer, FlightRecorder* flight, bool looked_on) {
  switch (decide.below(8)) {
    case 0: return drain.reclaim(writer);
    case 1: return drain.write_open_chunks(writer);
    case 2:
      if (looked_on) drain.show_open_chunks(writer);
      return;
    case 3:
      if (flight != nullptr && flight->take_snapshot_if_due(writer)) drain.write_open_chunks(writer);
      return;
    default: (void)drain.drain(writer, 64);
  }
}

void one_by_one(Decisions& decide, const FakeChannel& fake, ChannelMap map, const std::string& path) {
  RecordingWriter writer = new_writer(path);
  HostileTarget target(fake, decide);
  Heap heap;
  Watcher watcher;
  StartedPrograms programs;
  Patience patience;
  const auto budget = std::make_shared<Budget>(kLimits);
  const CallRules rules = rules_of(decide);
  const auto conditions = std::make_shared<const std::vector<Where>>(conditions_of(decide));
  std::unique_ptr<FlightRecorder> flight;
  if (rules.ask && decide.one_in(3)) {
    flight = std::make_unique<FlightRecorder>(SnapshotRules{rules, 256 << 10, 0, false, {}, 0}, 4096);
    flight->forward_to(&watcher);
  }
  auto sink = std::make_shared<ChunkSink>(0, nullptr, flight != nullptr, budget);
  sink->set_time_shift(decide.one_in(3) ? 5 : 0);
  std::unique_ptr<ChunkFilter> filter;
  if (decide.one_in(2)) filter = std::make_unique<ChunkFilter>(0, conditions, rules.any() ? &rules : nullptr, budget);
  ProcessDrain drain(std::move(map), 0, 1, std::move(filter), sink, budget);
  const bool looked_on = flight != nullptr || decide.one_in(2);
  if (looked_on) drain.set_observer(flight ? static_cast<Observer*>(flight.get()) : &watcher);
  if (flight) {
    drain.set_flight_recorder(flight.get());
    flight->began({});
  }
  drain.set_started_programs(&programs);
  drain.set_patience(&patience);
  const bool floods = decide.one_in(512);
  for (uint32_t steps = 2 + decide.below(24); steps-- != 0;) {
    if (floods && decide.one_in(2)) target.flood();
    for (uint32_t acts = 1 + decide.below(6); acts-- != 0;) target.act();
    step(decide, drain, writer, flight.get(), looked_on);
    heap.check();
  }
  if (decide.one_in(8)) patience.begin(decide.one_in(2) ? 0 : 1);
  drain.finish(writer, decide.one_in(2), EndKind::kUnknown, 0, decide.border());
  heap.check();
  if (flight) flight->end(writer, decide.border());
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i)
    if ((sink->counts().thrown_away[i] | sink->counts().stored[i]) >> 48 != 0) std::abort();  // implausible counts
  (void)unrecorded_summary(programs.unrecorded(), programs.unreported());
  CollectorHealth health;
  health.event_cost_ps[0] = drain.record_cost_ticks() + drain.start_cost_ticks();
  (void)writer.write_collector(health);
  (void)writer.finish();
}

// ---- All at once

// A thread that continuously writes anything to the given place.
class Hammer {
 public:
  explicit Hammer(uint64_t seed) : seed_(seed), thread_([this] { run(); }) {}
  ~Hammer() {
    over_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  void aim(std::span<uint8_t> page) { at_.store(reinterpret_cast<uint64_t*>(page.data()), std::memory_order_release); }

 private:
  void run() {
    uint8_t bytes[sizeof seed_];
    std::memcpy(bytes, &seed_, sizeof seed_);
    Decisions decide({bytes, 0});
    while (!over_.load(std::memory_order_relaxed)) {
      uint64_t* const page = at_.load(std::memory_order_acquire);
      if (page == nullptr) continue;
      uint64_t* const word = page + decide.below(decide.one_in(2) ? 16 : 512);
      const uint64_t before = __atomic_load_n(word, __ATOMIC_RELAXED), other = decide.border();
      // Alternates between two values: one is checked, the other used.
      for (int i = 0; i < 16; ++i) __atomic_store_n(word, i % 2 == 0 ? other : before, __ATOMIC_RELAXED);
    }
  }

  uint64_t seed_;
  std::atomic<uint64_t*> at_{nullptr};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

void all_at_once(Decisions& decide, const FakeChannel& fake, ChannelMap map, const std::string& path) {
  HostileTarget target(fake, decide);
  Heap heap;
  Watcher watcher;
  auto doorbell = Doorbell::create();
  if (!doorbell) std::abort();
  const Mapping bell(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, doorbell->fd(), 0), 4096);
  SnapshotRules snapshots;
  if (decide.one_in(3)) snapshots = {rules_of(decide), 256 << 10, 0, false, {}, 0};
  if (!snapshots.functions.ask) snapshots.bytes = 0;
  Collector collector(new_writer(path), *doorbell, conditions_of(decide), rules_of(decide), std::move(snapshots));
  if (decide.one_in(2)) collector.set_observer(watcher);
  if (!collector.start()) std::abort();
  {
    Hammer hammer(decide.word());
    Process process;
    process.number = 0;
    process.pid = 1;
    collector.add(process, std::move(map));
    for (uint32_t steps = 2 + decide.below(24); steps-- != 0;) {
      hammer.aim(decide.one_in(8) ? std::span<uint8_t>(bell.data(), 4096) : target.page(decide.below(6)));
      for (uint32_t acts = 1 + decide.below(6); acts-- != 0;) target.act();
      doorbell->ring();
      (void)doorbell->expected();
      if (decide.one_in(8)) doorbell->met();
      if (decide.one_in(8)) collector.note("hostile", true);
      heap.check();
    }
    if (decide.one_in(2)) collector.end(0, EndKind::kUnknown, 0);
    (void)collector.stop(decide.one_in(2));
    heap.check();
  }
  if (collector.totals().processes != 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Decisions decide({data, size});
  const std::string path = "/dev/shm/penna-pages-fuzz-" + std::to_string(::getpid());
  const FakeChannel fake;
  if (decide.one_in(8))
    for (uint32_t i = 1 + decide.below(3); i-- != 0;) HostileTarget(fake, decide).spoil_geometry();
  fake.seal();
  const penna_config asked = asked_of();
  auto map = ChannelMap::map(fake.memory(), decide.one_in(2) ? &asked : nullptr);
  ++states.count;
  if (!map) return 0;
  if (decide.one_in(8))
    all_at_once(decide, fake, std::move(*map), path);
  else
    one_by_one(decide, fake, std::move(*map), path);
  must_be_readable(path);
  states.end_if_enough();
  return 0;
}

// SPDX-License-Identifier: MIT
// The analyses: a recording's events walked thread by thread and merged in time, and what `penna report` computes from
// them.
//
// The recording has four threads that did the same at the same time: the chunks of recording_workloads.h, four times.
// items_per_second = events per second of processor time: chunks may be unpacked by other processors. Invariant: every
// event written is seen; otherwise it is an error.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "base/check.h"
#include "model/blocks/allocations.h"
#include "model/calls/calls.h"
#include "model/events/events.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "recording_workloads.h"

namespace {

using namespace penna;
using workload::Kind;

constexpr uint32_t kProcess = 1, kThreads = 4;
constexpr const char* kNames[] = {"calls", "fib", "allocs", "malloc_loop"};

// Made on first use, removed at the end of the program.
class Sample {
 public:
  explicit Sample(int64_t kind) {
    path_ = "/dev/shm/penna-model-bench." + std::to_string(::getpid()) + "." + std::to_string(kind);
    auto writer = RecordingWriter::create(path_, {.overwrite = true});
    PENNA_CHECK(writer);
    Session session;
    session.ticks_per_second = 2'500'000'000;
    PENNA_CHECK(writer->write_session(session));
    Process process;
    process.number = kProcess;
    PENNA_CHECK(writer->write_process(process));
    for (std::vector<uint8_t>& chunk : workload::chunks_of(static_cast<Kind>(kind), 96)) {
      for (uint32_t serial = 1; serial <= kThreads; ++serial) {
        std::memcpy(chunk.data() + offsetof(penna_chunk, thread_serial), &serial, sizeof serial);
        const ChunkSummary summary = scan_chunk(chunk);
        PENNA_CHECK(summary.complete());
        PENNA_CHECK(writer->write_chunk(kProcess, chunk, summary));
        for (uint32_t count : summary.events) events_ += count;
      }
    }
    PENNA_CHECK(writer->finish());
    recording_.emplace(*Recording::open(path_));
  }
  ~Sample() { ::unlink(path_.c_str()); }

  static const Sample& of(int64_t kind) {
    static std::unique_ptr<Sample> samples[std::size(kNames)];
    if (!samples[kind]) samples[kind] = std::make_unique<Sample>(kind);
    return *samples[kind];
  }
  const Recording& recording() const { return *recording_; }
  uint64_t events() const { return events_; }

 private:
  std::string path_;
  std::optional<Recording> recording_;
  uint64_t events_ = 0;
};

// `walk`: returns the number of events that it saw.
template <typename Walk>
void measure(benchmark::State& state, Walk walk) {
  const Sample& sample = Sample::of(state.range(0));
  for (auto _ : state) PENNA_CHECK(walk(sample.recording()) == sample.events());
  state.SetLabel(kNames[state.range(0)]);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(sample.events()));
}

void walk_by_thread(benchmark::State& state) {
  measure(state, [](const Recording& recording) {
    uint64_t sum = 0;
    const WalkReport report = for_each_thread_event(recording, {}, [&](const Event& event) { sum += event.time; });
    benchmark::DoNotOptimize(sum);
    return report.events;
  });
}
BENCHMARK(walk_by_thread)->MeasureProcessCPUTime()->Arg(0)->Arg(2);

void walk_merged(benchmark::State& state) {
  measure(state, [](const Recording& recording) {
    uint64_t sum = 0;
    const WalkReport report = for_each_event(recording, {}, [&](const Event& event) { sum += event.time; });
    benchmark::DoNotOptimize(sum);
    return report.events;
  });
}
BENCHMARK(walk_merged)->Arg(0)->Arg(2);

void analyse_calls(benchmark::State& state) {
  measure(state, [](const Recording& recording) {
    const CodeMap map(recording);
    Calls calls(recording, map);
    const WalkReport report = for_each_thread_event(recording, {}, calls);
    calls.finish();
    benchmark::DoNotOptimize(calls.by_total().size());
    return report.events;
  });
}
BENCHMARK(analyse_calls)->MeasureProcessCPUTime()->Arg(0)->Arg(1);

void analyse_allocations(benchmark::State& state) {
  measure(state, [](const Recording& recording) {
    Allocations allocations(recording);
    const WalkReport report = for_each_event(recording, {.classes = kAllocEvents}, allocations);
    benchmark::DoNotOptimize(allocations.total().live_bytes);
    return report.events;
  });
}
BENCHMARK(analyse_allocations)->Arg(2);

}  // namespace

BENCHMARK_MAIN();

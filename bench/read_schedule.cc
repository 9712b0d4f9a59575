// SPDX-License-Identifier: MIT
// read_schedule RECORDING: what reading it costs, chunk by chunk, and how it would scale over processors.
//
// Why simulated: few machines have 64 processors. The costs are measured here, one after the other; the schedule is
// that of analysis/call_parts.h and model/events/chunk_feed.h. Not in it: caches and memory that processors share.
// Invariant: with one processor the simulated time is the sum of all costs.
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "analysis/call_parts.h"
#include "model/blocks/allocations.h"
#include "model/calls/calls.h"
#include "model/locks/locks.h"

namespace penna {
namespace {

// Of one chunk, in ns: unpacking it, and looking at its events.
struct Cost {
  uint32_t thread;
  uint64_t time_begin;  // ticks
  double unpack, look;
};

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// What `analyse` takes besides unpacking is distributed to the chunks by their events of these classes.
std::vector<Cost> costs_of(const Recording& recording, uint32_t classes, const std::function<void()>& analyse) {
  std::vector<Cost> costs;
  std::vector<uint8_t> bytes;
  double unpacking = 0, events = 0;
  for (const ChunkRef& chunk : recording.chunks()) {
    double wanted = 0;
    for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
      if ((classes >> i & 1) != 0) wanted += chunk.events[i];
    if (wanted == 0) continue;
    const double begin = now();
    if (!recording.read_chunk(chunk, bytes)) continue;
    costs.push_back({chunk.thread, chunk.time_begin, now() - begin, wanted});
    unpacking += costs.back().unpack;
    events += wanted;
  }
  const double begin = now();
  analyse();
  const double looking = std::max(0.0, now() - begin - unpacking);
  for (Cost& cost : costs) cost.look *= looking / events;
  return costs;
}

// One consumer, and helpers that unpack at most `ahead` chunks ahead. The consumer unpacks what no helper has begun.
double simulate_feed(const std::vector<Cost>& chunks, size_t helpers, size_t ahead) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free;  // when each helper is free next
  for (size_t i = 0; i < helpers; ++i) free.push(0);
  std::vector<double> ready(chunks.size(), -1), given(chunks.size(), 0);
  double consumer = 0;
  size_t begun = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    for (; helpers != 0 && begun < std::min(chunks.size(), i + ahead); ++begun) {
      // A place is free once the chunk before it has been given away.
      const double from = std::max(free.top(), begun < ahead ? 0.0 : given[begun - ahead]);
      if (begun == i && from > consumer) break;
      free.pop();
      free.push(ready[begun] = from + chunks[begun].unpack);
    }
    begun = std::max(begun, i + 1);
    consumer = ready[i] < 0 ? consumer + chunks[i].unpack : std::max(consumer, ready[i]);
    given[i] = consumer;
    consumer += chunks[i].look;
  }
  return consumer;
}

// Threads merged in time: one consumer.
double simulate_merge(std::vector<Cost> costs, size_t threads, size_t processors) {
  std::stable_sort(costs.begin(), costs.end(), [](auto& a, auto& b) { return a.time_begin < b.time_begin; });
  return simulate_feed(costs, std::min(processors - 1, Unpackers::kMostThreads),
                       ChunkFeed::kAhead * std::min<size_t>(threads, detail::MergeQueue::kMostAhead));
}

// Parts of the threads, largest first; helpers for those that are left over.
double simulate_parts(const Recording& recording, const std::vector<Cost>& costs, size_t processors) {
  const std::vector<ThreadRange> parts = split_threads(recording, kPartsOfEach * processors);
  const size_t workers = std::min(processors, parts.size());
  const size_t helpers = std::min(Unpackers::kMostThreads, (processors - workers) / workers);
  std::vector<double> times;
  for (const ThreadRange& part : parts) {
    std::vector<Cost> own;
    for (const Cost& cost : costs)
      if (cost.thread >= part.begin && cost.thread < part.end) own.push_back(cost);
    times.push_back(simulate_feed(own, helpers, ChunkFeed::kAhead));
  }
  std::sort(times.begin(), times.end(), std::greater<>());
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (size_t i = 0; i < workers; ++i) free.push(0);
  double last = 0;
  for (const double time : times) {
    const double end = free.top() + time;
    free.pop();
    free.push(end);
    last = std::max(last, end);
  }
  return last;
}

void print_row(const char* what, const std::vector<Cost>& costs, const std::function<double(size_t)>& simulate) {
  if (costs.empty()) return;
  double unpack = 0, look = 0;
  for (const Cost& cost : costs) {
    unpack += cost.unpack;
    look += cost.look;
  }
  fmt::print("{:12} {:7} chunks  unpack {:7.1f} ms  look {:7.1f} ms  |", what, costs.size(), unpack / 1e6, look / 1e6);
  for (const size_t processors : {1, 2, 4, 8, 16, 32, 64}) {
    const double times = (unpack + look) / simulate(processors);
    fmt::print("  {:2}: {:4.1f} x {:3.0f} %", processors, times, times * 100 / static_cast<double>(processors));
  }
  fmt::print("\n");
}

}  // namespace
}  // namespace penna

int main(int argc, char** argv) {
  using namespace penna;
  if (argc != 2) return fmt::print(stderr, "usage: read_schedule RECORDING\n"), 2;
  const auto recording = Recording::open(argv[1]);
  if (!recording) return fmt::print(stderr, "read_schedule: {}\n", recording.error().text), 1;
  fmt::print("{}: {} threads; times faster than with one processor, and share of what is possible\n", argv[1],
             recording->threads().size());
  const auto calls = costs_of(*recording, kCallEvents, [&] {
    const CodeMap map(*recording);
    for_each_thread_event(*recording, {.classes = kCallEvents}, Calls(*recording, map));
  });
  print_row("calls", calls, [&](size_t processors) { return simulate_parts(*recording, calls, processors); });
  const size_t threads = recording->threads().size();
  const auto blocks = costs_of(*recording, kAllocEvents,
                               [&] { for_each_event(*recording, {.classes = kAllocEvents}, Allocations(*recording)); });
  print_row("allocations", blocks, [&](size_t processors) { return simulate_merge(blocks, threads, processors); });
  const auto locks = costs_of(*recording, kLockEvents,
                              [&] { for_each_event(*recording, {.classes = kLockEvents}, Locks(*recording)); });
  print_row("locks", locks, [&](size_t processors) { return simulate_merge(locks, threads, processors); });
  return 0;
}

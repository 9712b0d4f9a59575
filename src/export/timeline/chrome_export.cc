// SPDX-License-Identifier: MIT
// See chrome_export.h. Thread by thread: the format requires no order, and a call is written once, when its end is
// known.
#include "export/timeline/chrome_export.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <utility>

#include "export/text/event_words.h"
#include "export/text/json_writer.h"
#include "export/timeline/json_arguments.h"
#include "model/events/block_records.h"
#include "model/events/summary.h"

namespace penna {
namespace {

// The live heap gets at most two values in this time, the highest and the last; otherwise a big program would be all
// counters.
constexpr int64_t kCounterNs = 100'000;

// Writes the events of the Trace Event Format: "X" a slice with its length, "B" and "E" its ends, "i" an instant, "C" a
// counter, "M" a name. Times are microseconds with three decimals.
class ChromeExport {
 public:
  ChromeExport(const Recording& recording, Names& names, const TextSink& sink)
      : recording_(recording), words_(recording, names), json_(sink) {}

  void begin() {
    json_.begin_object();
    // Display only: "ts" and "dur" stay microseconds.
    json_.field("displayTimeUnit", "ns");
    json_.key("traceEvents");
    json_.begin_array();
  }
  bool finish() {
    json_.end_array();
    json_.end_object();
    return json_.finish();
  }

  void process_name(const ProcessSummary& process) {
    metadata("process_name", process.pid, 0, process.name.empty() ? "unknown" : process.name);
  }
  void thread_name(const ThreadSummary& thread) {
    if (!thread.name.empty())
      metadata("thread_name", recording_.processes()[thread.process].process.pid, thread.tid, thread.name);
  }

  // Entries are skipped: a call is one event, when its end is known.
  bool line(const TimelineLine& line) {
    switch (line.kind) {
      case LineKind::kLeave:
      case LineKind::kLeaf: call(line); break;
      case LineKind::kLockWait:
      case LineKind::kOpenWait:
      case LineKind::kConditionWait:
      case LineKind::kBlocked: wait(line); break;
      case LineKind::kPoint: instant(line, "point", words_.name(line)); break;
      case LineKind::kSpanBegin: span_begin(line); break;
      case LineKind::kSpanEnd: span_end(line); break;
      case LineKind::kStrayExit: instant(line, "penna", "exit without entry: " + words_.name(line)); break;
      case LineKind::kLost: instant(line, "penna", "events lost"); break;
      default: break;
    }
    return json_.ok();
  }

  bool live_heap(uint32_t process, uint64_t time, uint64_t bytes) {
    event("C", "live heap", time, recording_.processes()[process].process.pid, 0);
    json_.key("args");
    json_.begin_object();
    json_.field("bytes", bytes);
    json_.end_object();
    json_.end_object();
    return json_.ok();
  }

 private:
  // The fields common to all events; the caller adds more and ends the object.
  void event(const char* phase, std::string_view name, uint64_t time, uint32_t pid, uint32_t tid) {
    json_.new_line();
    json_.begin_object();
    json_.field("ph", phase);
    json_.field("name", name);
    json_.key("ts");
    json_.thousandths(words_.time_ns(time));
    json_.field("pid", pid);
    json_.field("tid", tid);
  }
  void event(const char* phase, const char* category, std::string_view name, uint64_t time, const TimelineLine& line) {
    event(phase, name, time, recording_.processes()[line.process].process.pid, recording_.threads()[line.thread].tid);
    json_.field("cat", category);
  }
  void duration(const TimelineLine& line) {
    json_.key("dur");
    json_.thousandths(words_.duration_ns(line));
  }
  void metadata(const char* what, uint32_t pid, uint32_t tid, const std::string& name) {
    json_.new_line();
    json_.begin_object();
    json_.field("ph", "M");
    json_.field("name", what);
    json_.field("pid", pid);
    json_.field("tid", tid);
    json_.key("args");
    json_.begin_object();
    json_.field("name", name);
    json_.end_object();
    json_.end_object();
  }

  void call(const TimelineLine& line) {
    event("X", "call", words_.name(line), line.begin, line);
    duration(line);
    // An event has one "args": for a call with values, they replace how it ended.
    if (line.arguments != nullptr || line.result != nullptr || line.stack != 0)
      arguments(line);
    else
      how_it_ended(line, "left by an outer function's exit", "not left at the end");
    json_.end_object();
  }
  // As two events, because the arguments are known only at the beginning.
  void span_begin(const TimelineLine& line) {
    event("B", "span", words_.name(line), line.time, line);
    arguments(line);
    json_.end_object();
  }
  void span_end(const TimelineLine& line) {
    event("E", "span", words_.name(line), line.time, line);
    how_it_ended(line, "ended by its enclosing call", "not ended");
    json_.end_object();
  }
  void how_it_ended(const TimelineLine& line, const char* unwound, const char* open) {
    if (line.end == CallEnd::kExit) return;
    json_.key("args");
    json_.begin_object();
    json_.field("end", line.end == CallEnd::kJump ? "left by longjmp" : line.end == CallEnd::kUnwound ? unwound : open);
    json_.end_object();
  }

  void wait(const TimelineLine& line) {
    const std::string name = line.kind == LineKind::kBlocked ? "penna: waited for room" : "wait " + words_.name(line);
    event("X", "wait", name, line.begin, line);
    duration(line);
    arguments(line);
    json_.end_object();
  }

  void instant(const TimelineLine& line, const char* category, const std::string& name) {
    event("i", category, name, line.time, line);
    // Scope: the thread.
    json_.field("s", "t");
    arguments(line);
    json_.end_object();
  }

  void arguments(const TimelineLine& line) {
    json_.key("args");
    json_.begin_object();
    write_arguments(line, words_, json_);
    if (line.stack != 0) json_.field("stack", words_.folded_stack(line));
    json_.end_object();
  }

  const Recording& recording_;
  EventWords words_;
  JsonWriter json_;
};

// The live bytes of each process over time, merged over its threads. Only sizes are kept: one map entry per live block.
class HeapCounter {
 public:
  HeapCounter(const Recording& recording, ChromeExport& out)
      : recording_(recording),
        out_(out),
        heaps_(recording.processes().size()),
        last_frees_(recording.threads().size()) {}

  bool operator()(const Event& event) {
    Heap& heap = heaps_[event.process];
    const BlockRecord block = read_heap_block(event.record);
    Freed& last = last_frees_[event.thread];
    switch (block.action) {
      case BlockAction::kNone: return true;
      case BlockAction::kAllocated:
        insert(heap, block.address, takes_thread(recording_, event.thread) ? block.size : 0);
        break;
      case BlockAction::kFreed: last = {block.address, remove(heap, block.address)}; break;
      case BlockAction::kKept: insert(heap, last.address, last.size); break;
    }
    heap.last_time = event.time;
    heap.pending = true;
    if (heap.live > heap.peak) {
      heap.peak = heap.live;
      heap.peak_time = event.time;
    }
    if (heap.shown && recording_.time().duration_ns(heap.shown_time, event.time) < kCounterNs) return true;
    return show(event.process, heap);
  }
  // The last values.
  bool finish() {
    for (uint32_t process = 0; process < heaps_.size(); ++process)
      if (heaps_[process].pending && !show(process, heaps_[process])) return false;
    return true;
  }

 private:
  struct Freed {
    uint64_t address = 0, size = 0;
  };
  struct Heap {
    tsl::robin_map<uint64_t, uint64_t> sizes;  // by address
    uint64_t live = 0;
    uint64_t shown_live = 0;
    uint64_t peak = 0, peak_time = 0;  // since it was shown
    uint64_t last_time = 0, shown_time = 0;
    bool shown = false, pending = false;
  };
  static void insert(Heap& heap, uint64_t address, uint64_t size) {
    remove(heap, address);  // in case its free was not recorded
    if (__builtin_add_overflow(heap.live, size, &heap.live)) heap.live = UINT64_MAX;
    heap.sizes[address] = size;
  }
  // The size of the block; 0 if unknown.
  static uint64_t remove(Heap& heap, uint64_t address) {
    const auto found = heap.sizes.find(address);
    if (found == heap.sizes.end()) return 0;
    const uint64_t size = found->second;
    heap.live -= std::min(heap.live, size);
    heap.sizes.erase(found);
    return size;
  }
  bool show(uint32_t process, Heap& heap) {
    heap.shown = true;
    heap.pending = false;
    heap.shown_time = heap.last_time;
    const bool rose = heap.peak > std::max(std::exchange(heap.shown_live, heap.live), heap.live);
    const uint64_t peak = std::exchange(heap.peak, heap.live);
    return (!rose || out_.live_heap(process, heap.peak_time, peak)) &&
           out_.live_heap(process, heap.last_time, heap.live);
  }

  const Recording& recording_;
  ChromeExport& out_;
  std::vector<Heap> heaps_;        // by process
  std::vector<Freed> last_frees_;  // by thread: what a failed realloc takes back
};

}  // namespace

bool export_chrome(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                   WalkReport* walk) {
  ChromeExport out(recording, names, sink);
  out.begin();
  const Summary summary = summarize(recording);
  for (const ProcessSummary& process : summary.processes) out.process_name(process);
  for (const ThreadSummary& thread : summary.threads) out.thread_name(thread);

  // First thread by thread, then a pass over all allocations in time order: the counter is per process.
  bool go_on = for_each_line_by_thread(recording, TimelineOptions{}, step, walk,
                                       [&](const TimelineLine& line) { return out.line(line); });
  HeapCounter counter(recording, out);
  EventFilter allocations;
  allocations.classes = kAllocEvents;
  allocations.all_threads = true;
  if (go_on && summary.events[PENNA_ALLOC] != 0)
    go_on = !for_each_event(recording, allocations, counter).stopped && counter.finish();
  return out.finish();
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// Calls: how often each function was called, and how long it took, over all threads.
//
// Usage:  Calls calls(recording, map); for_each_thread_event(recording, filter, calls); calls.finish();
// Streaming; threads may come merged or one after another, each in its own order.
// All durations are ticks: nanoseconds = ticks * recording.time().ns_per_tick().
// Invariant: a function's `total` counts recursion once (its outermost calls only); the sum of all `self` is the time
// that threads spent in recorded functions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/calls/call_matcher.h"
#include "model/events/distribution.h"
#include "model/events/events.h"
#include "model/names/code_map.h"

namespace penna {

struct FunctionCalls {
  FunctionId function = 0;
  uint64_t calls = 0;
  uint64_t total = 0;     // inclusive time of the outermost calls
  uint64_t self = 0;      // without the calls it made
  uint64_t unwound = 0,   // of `calls`: ended by a jump, or own exit not seen
      open = 0;           // of `calls`: not ended; both kinds last until they were cut off
  Distribution duration;  // inclusive, of every call, also recursive: min, max, average, percentile(0.5), (0.99)
};

class Calls {
 public:
  // `recording` and `map` must outlive it.
  Calls(const Recording& recording, const CodeMap& map);
  ~Calls();

  void operator()(const Event& event) {
    if (event.record.changes_calls()) add(event);
  }
  void operator()(const CallRun& run) { add(run); }
  void finish();  // Ends open calls at the last call event of their thread; the results are complete after it.
  // Adds what a finished `part` has of other threads, before finish(): as if this one had read these threads after its
  // own.
  void merge(const Calls& part);

  const FunctionTable& functions() const { return functions_; }
  std::vector<const FunctionCalls*> by_total() const;  // all functions called, most time first
  const FunctionCalls& of(FunctionId function) const { return totals_[function]; }
  const CallCounts& counts() const { return counts_; }  // over all threads

 private:
  struct ThreadState;
  struct Observer;
  template <typename Some>  // an Event or a CallRun
  void add(const Some& some);
  FunctionId make_function(uint32_t process, const OpenCall& call);
  void make_totals();

  const Recording& recording_;
  const CodeMap& map_;
  FunctionTable functions_;
  std::vector<FunctionCalls> totals_;                  // by function
  std::vector<std::unique_ptr<ThreadState>> threads_;  // by thread; null without calls
  CallCounts counts_;
};

}  // namespace penna

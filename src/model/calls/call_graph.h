// SPDX-License-Identifier: MIT
// CallGraph: the callers and callees of some chosen functions.
//
// Usage:  CallGraph graph(recording, map, chosen); for_each_thread_event(recording, filter, graph); graph.finish();
// All durations are ticks. The chosen functions count as one: an overload set, the instances of a template.
// Invariant: a `total` is the time during which at least one call of its kind was open, so recursion counts once; the
// callers' calls and self times add up to those of the chosen functions.
// Memory: the open calls, and one entry per function.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/calls/call_matcher.h"
#include "model/events/events.h"
#include "model/names/code_map.h"

namespace penna {

struct CallEdge {
  uint64_t calls = 0;
  uint64_t total = 0;
  uint64_t self = 0;  // of the callee, in these calls
};

class CallGraph {
 public:
  using IsChosen = std::function<bool(const CodePlace&)>;  // asked once per function
  CallGraph(const Recording& recording, const CodeMap& map, IsChosen is_chosen);
  ~CallGraph();

  void operator()(const Event& event) {
    if (event.record.changes_calls()) add(event);
  }
  void operator()(const CallRun& run) { add(run); }
  void finish();

  struct Neighbour {
    FunctionId function = kNoFunction;  // kNoFunction: a chosen function was its thread's outermost
    CallEdge edge;
  };
  const CallEdge& chosen() const { return chosen_; }
  std::vector<Neighbour> callers() const { return with_calls(callers_); }  // most total time first
  std::vector<Neighbour> callees() const { return with_calls(callees_); }  // likewise, called by the chosen
  bool is_chosen(FunctionId function) const { return function < is_chosen_.size() && is_chosen_[function]; }
  const FunctionTable& functions() const { return functions_; }
  const CallCounts& counts() const { return counts_; }  // of all calls

 private:
  struct ThreadState;
  struct Observer;
  template <typename Some>  // an Event or a CallRun
  void add(const Some& some);
  std::vector<Neighbour> with_calls(const std::vector<CallEdge>& edges) const;

  const CodeMap& map_;
  IsChosen ask_;
  FunctionTable functions_;
  std::vector<bool> is_chosen_;              // by function
  std::vector<CallEdge> callers_, callees_;  // by function + 1; [0] is kNoFunction
  CallEdge chosen_;
  CallCounts counts_;
  std::vector<std::unique_ptr<ThreadState>> threads_;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// See call_graph.h.
#include "model/calls/call_graph.h"

#include <algorithm>
#include <utility>

#include "model/calls/thread_calls.h"

namespace penna {
namespace {

constexpr size_t index_of(FunctionId function) { return function == kNoFunction ? 0 : size_t{function} + 1; }

}  // namespace

struct CallGraph::ThreadState : ThreadCalls {
  using ThreadCalls::ThreadCalls;
  std::vector<FunctionId> functions;                 // by slot
  std::vector<uint32_t> open_callers, open_callees;  // by function + 1: open calls on each edge
  uint32_t open_chosen = 0;

  FunctionId caller(size_t depth) const { return depth == 0 ? kNoFunction : matcher.stack()[depth - 1].tag; }
};

// Receives each call from the matcher. An edge's total counts recursion once, so the calls that are open at the same
// time must be counted per edge and thread.
struct CallGraph::Observer {
  CallGraph& graph;
  ThreadState& thread;

  void on_enter(OpenCall& call, size_t depth) {
    if (call.slot == thread.functions.size()) [[unlikely]]
      thread.functions.push_back(make_function(call));
    call.tag = thread.functions[call.slot];
    const FunctionId caller = thread.caller(depth);
    if (graph.is_chosen_[call.tag]) {
      ++at(thread.open_callers, caller);
      ++thread.open_chosen;
    }
    if (caller != kNoFunction && graph.is_chosen_[caller]) ++at(thread.open_callees, call.tag);
  }

  void on_leave(const OpenCall& call, uint64_t end, CallEnd, size_t depth) {
    const FunctionId caller = thread.caller(depth);
    const bool by_chosen = caller != kNoFunction && graph.is_chosen_[caller];
    if (!by_chosen && !graph.is_chosen_[call.tag]) return;
    const uint64_t duration = end - call.begin;
    if (graph.is_chosen_[call.tag]) {
      count(at(graph.callers_, caller), at(thread.open_callers, caller), call, duration);
      count(graph.chosen_, thread.open_chosen, call, duration);
    }
    if (by_chosen) count(at(graph.callees_, call.tag), at(thread.open_callees, call.tag), call, duration);
  }

  // The outermost of calls that are open together carries the time of all.
  static void count(CallEdge& edge, uint32_t& open, const OpenCall& call, uint64_t duration) {
    edge.calls += !call.inherited;
    edge.self += duration - std::min(duration, call.inner);
    if (--open == 0) edge.total += duration;
  }

  FunctionId make_function(const OpenCall& call) {
    const FunctionId function = graph.functions_.intern(thread.process, call.pc, call.begin);
    for (auto& chosen = graph.is_chosen_; chosen.size() <= function;)  // some were only left, never entered
      chosen.push_back(graph.ask_(graph.functions_.place(static_cast<FunctionId>(chosen.size()))));
    return function;
  }

  template <typename T>
  static T& at(std::vector<T>& list, FunctionId function) {
    const size_t index = index_of(function);
    if (index >= list.size()) [[unlikely]]
      list.resize(index + 1);
    return list[index];
  }
};

CallGraph::CallGraph(const Recording& recording, const CodeMap& map, IsChosen is_chosen)
    : map_(map), ask_(std::move(is_chosen)), functions_(map), threads_(recording.threads().size()) {}
CallGraph::~CallGraph() = default;

template <typename Some>
void CallGraph::add(const Some& some) {
  auto& state = threads_[some.thread];
  if (!state) state = std::make_unique<ThreadState>(some, map_);
  state->add(some, functions_, Observer{*this, *state});
}
template void CallGraph::add(const Event& some);
template void CallGraph::add(const CallRun& some);

void CallGraph::finish() {
  for (auto& thread : threads_) {
    if (!thread) continue;
    thread->finish(Observer{*this, *thread});
    counts_.add(thread->matcher.counts());
  }
}

std::vector<CallGraph::Neighbour> CallGraph::with_calls(const std::vector<CallEdge>& edges) const {
  std::vector<Neighbour> result;
  for (size_t i = 0; i < edges.size(); ++i)
    if (edges[i].calls != 0 || edges[i].total != 0)
      result.push_back({i == 0 ? kNoFunction : static_cast<FunctionId>(i - 1), edges[i]});
  std::stable_sort(result.begin(), result.end(),
                   [](const Neighbour& a, const Neighbour& b) { return a.edge.total > b.edge.total; });
  return result;
}

}  // namespace penna

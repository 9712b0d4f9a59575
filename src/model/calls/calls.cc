// SPDX-License-Identifier: MIT
// See calls.h.
#include "model/calls/calls.h"

#include <algorithm>
#include <utility>

#include "model/calls/thread_calls.h"
#include "model/events/summary.h"

namespace penna {

struct Calls::ThreadState : ThreadCalls {
  using ThreadCalls::ThreadCalls;
  std::vector<FunctionId> functions;  // by the matcher's slot: a call needs no look-up beyond the matcher's own
};

// Runs for each call of a recording, inlined into the matcher's loop.
struct Calls::Observer {
  Calls& calls;
  ThreadState& thread;

  [[gnu::always_inline]] void on_enter(OpenCall& call, size_t) {
    if (call.slot == thread.functions.size()) [[unlikely]]
      thread.functions.push_back(calls.make_function(thread.process, call));
    call.tag = thread.functions[call.slot];
  }

  [[gnu::always_inline]] void on_leave(const OpenCall& call, uint64_t end, CallEnd how, size_t) {
    const uint64_t duration = end - call.begin;
    FunctionCalls& function = calls.totals_[call.tag];
    function.self += duration - std::min(duration, call.inner);
    function.total += call.outermost ? duration : 0;
    if (call.inherited) [[unlikely]]
      return;
    if (how != CallEnd::kExit) [[unlikely]]
      ++(how == CallEnd::kOpen ? function.open : function.unwound);
    function.duration.add(duration);
  }
};

Calls::Calls(const Recording& recording, const CodeMap& map)
    : recording_(recording), map_(map), functions_(map), threads_(recording.threads().size()) {}
Calls::~Calls() = default;

FunctionId Calls::make_function(uint32_t process, const OpenCall& call) {
  const FunctionId function = functions_.intern(process, call.pc, call.begin);
  make_totals();
  return function;
}

void Calls::make_totals() {
  while (totals_.size() < functions_.size()) {
    const auto next = static_cast<FunctionId>(totals_.size());
    totals_.emplace_back().function = next;
  }
}

void Calls::merge(const Calls& part) {
  for (FunctionId of_part = 0; of_part < part.functions_.size(); ++of_part) {
    const FunctionId function = functions_.intern(part.functions_.place(of_part));
    make_totals();
    if (of_part >= part.totals_.size()) continue;
    const FunctionCalls& from = part.totals_[of_part];
    FunctionCalls& to = totals_[function];
    to.calls += from.calls;
    to.total += from.total;
    to.self += from.self;
    to.unwound += from.unwound;
    to.open += from.open;
    to.duration.merge(from.duration);
  }
  counts_.add(part.counts_);
}

template <typename Some>
void Calls::add(const Some& some) {
  auto& state = threads_[some.thread];
  if (!state) [[unlikely]]
    state = std::make_unique<ThreadState>(some, map_);
  ThreadState& thread = *state;  // otherwise reloaded after every store
  thread.add(some, functions_, Observer{*this, thread});
}
template void Calls::add(const Event& some);
template void Calls::add(const CallRun& some);

void Calls::finish() {
  for (uint32_t number = 0; number < threads_.size(); ++number) {
    ThreadState* thread = threads_[number].get();
    if (thread == nullptr) continue;
    thread->finish(Observer{*this, *thread});
    CallCounts counts = thread->matcher.counts();
    // Exits of a forked thread outside of all its calls leave calls of the parent: they are inherited, not stray.
    if (counts.outer_exits != 0 && continues_after_fork(recording_, number)) {
      counts.inherited = std::exchange(counts.outer_exits, 0);
      counts.stray_exits -= counts.inherited;
    }
    counts_.add(counts);
  }
  for (FunctionCalls& function : totals_) function.calls = function.duration.count();
}

std::vector<const FunctionCalls*> Calls::by_total() const {
  std::vector<const FunctionCalls*> result;
  for (const FunctionCalls& function : totals_)
    if (function.calls != 0 || function.total != 0) result.push_back(&function);
  std::stable_sort(result.begin(), result.end(), [](auto* a, auto* b) { return a->total > b->total; });
  return result;
}

}  // namespace penna

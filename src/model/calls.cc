// SPDX-License-Identifier: MIT
// See calls.h.
#include "model/calls.h"

#include <algorithm>
#include <utility>

#include "model/thread_calls.h"

namespace penna {

// A thread counts by its matcher's slots, so that an event costs no look-up beyond the matcher's own.
struct Calls::ThreadState : ThreadCalls {
  using ThreadCalls::ThreadCalls;
  std::vector<ThreadFunctionCalls> functions;  // by slot
};

struct Calls::Observer {
  Calls& calls;
  ThreadState& thread;

  [[gnu::always_inline]] void on_enter(OpenCall& call, size_t) {
    if (call.slot == thread.functions.size()) [[unlikely]] {
      const FunctionId function = calls.functions_.intern(thread.process, call.pc, call.begin);
      calls.make_room(function);
      thread.functions.push_back({function, 0, 0, 0, UINT64_MAX, 0});
    }
    call.tag = thread.functions[call.slot].function;
  }

  void on_leave(const OpenCall& call, uint64_t end, CallEnd how, size_t) {
    const uint64_t duration = end - call.begin;
    ThreadFunctionCalls& own = thread.functions[call.slot];
    ++own.calls;
    own.self += duration - std::min(duration, call.inner);
    own.total += call.outermost ? duration : 0;
    own.min = std::min(own.min, duration);
    own.max = std::max(own.max, duration);
    FunctionCalls& total = calls.totals_[call.tag];  // finish() adds up the rest
    if (how != CallEnd::kExit) [[unlikely]]
      ++(how == CallEnd::kOpen ? total.open : total.unwound);
    total.duration.add(duration);
  }
};

Calls::Calls(const Recording& recording, const CodeMap& map)
    : recording_(recording), map_(map), functions_(map), threads_(recording.threads().size()) {}
Calls::~Calls() = default;

void Calls::make_room(FunctionId function) {
  while (totals_.size() <= function) {
    const auto next = static_cast<FunctionId>(totals_.size());
    totals_.emplace_back().function = next;
  }
}

template <typename Some>
void Calls::add(const Some& some) {
  auto& state = threads_[some.thread];
  if (!state) [[unlikely]]
    state = std::make_unique<ThreadState>(some, map_);
  ThreadState& thread = *state;  // else it would be loaded anew behind every store
  thread.add(some, functions_, Observer{*this, thread});
}
template void Calls::add(const Event& some);
template void Calls::add(const CallRun& some);

// A forked process goes on in the middle of its parent's functions: in its first thread.
bool Calls::goes_on_after_fork(uint32_t thread) const {
  const std::span<const RecordedProcess> processes = recording_.processes();
  const RecordedProcess& own = processes[recording_.threads()[thread].process];
  if (own.process.after_exec || own.threads.empty() || own.threads.front() != thread) return false;
  return std::any_of(processes.begin(), processes.end(), [&](const RecordedProcess& other) {
    return &other != &own && other.process.pid == own.process.parent_pid;
  });
}

void Calls::finish() {
  for (uint32_t number = 0; number < threads_.size(); ++number) {
    ThreadState* thread = threads_[number].get();
    if (thread == nullptr) continue;
    thread->finish(Observer{*this, *thread});
    for (const ThreadFunctionCalls& own : thread->functions) {
      FunctionCalls& total = totals_[own.function];
      total.calls += own.calls;
      total.self += own.self;
      total.total += own.total;
    }
    CallCounts counts = thread->matcher.counts();
    if (counts.stray_exits != 0 && goes_on_after_fork(number)) counts.inherited = std::exchange(counts.stray_exits, 0);
    counts_.add(counts);
  }
}

std::vector<const FunctionCalls*> Calls::by_total() const {
  std::vector<const FunctionCalls*> result;
  for (const FunctionCalls& function : totals_)
    if (function.calls != 0) result.push_back(&function);
  std::stable_sort(result.begin(), result.end(), [](auto* a, auto* b) { return a->total > b->total; });
  return result;
}

std::vector<ThreadFunctionCalls> Calls::of_thread(uint32_t thread) const {
  if (thread >= threads_.size() || !threads_[thread]) return {};
  // Slots may share a function (code that was mapped twice): one row each.
  std::vector<ThreadFunctionCalls> result = threads_[thread]->functions;
  std::stable_sort(result.begin(), result.end(), [](auto& a, auto& b) { return a.function < b.function; });
  size_t kept = 0;
  for (const ThreadFunctionCalls& one : result) {
    if (kept != 0 && result[kept - 1].function == one.function) {
      ThreadFunctionCalls& into = result[kept - 1];
      into.calls += one.calls;
      into.total += one.total;
      into.self += one.self;
      into.min = std::min(into.min, one.min);
      into.max = std::max(into.max, one.max);
    } else {
      result[kept++] = one;
    }
  }
  result.resize(kept);
  std::stable_sort(result.begin(), result.end(), [](auto& a, auto& b) { return a.total > b.total; });
  return result;
}

CallCounts Calls::thread_counts(uint32_t thread) const {
  return thread < threads_.size() && threads_[thread] ? threads_[thread]->matcher.counts() : CallCounts{};
}

}  // namespace penna

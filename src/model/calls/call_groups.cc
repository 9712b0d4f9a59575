// SPDX-License-Identifier: MIT
// See call_groups.h.
#include "model/calls/call_groups.h"

#include <algorithm>

#include "model/calls/thread_calls.h"

namespace penna {

struct CallGroups::ThreadState : ThreadCalls {
  using ThreadCalls::ThreadCalls;
  std::vector<uint32_t> groups;  // by slot
  std::vector<uint32_t> open;    // by group: its open calls in this thread
};

// As in Calls, with groups instead of functions. The three observers are alike by design: each is inlined into the
// matcher's loop, where it determines the cost of a call.
struct CallGroups::Observer {
  CallGroups& all;
  ThreadState& thread;

  void on_enter(OpenCall& call, size_t) {
    if (call.slot == thread.groups.size()) thread.groups.push_back(all.group_of(thread, call.pc, call.begin));
    call.tag = thread.groups[call.slot];
    if (thread.open.size() <= call.tag) thread.open.resize(call.tag + 1);
    ++thread.open[call.tag];
  }
  void on_leave(const OpenCall& call, uint64_t end, CallEnd, size_t) {
    const uint64_t duration = end - call.begin;
    CallGroup& group = all.groups_[call.tag];
    group.calls += !call.inherited;
    group.self += duration - std::min(duration, call.inner);
    // Of nested calls of one group only the outermost adds to the total.
    if (--thread.open[call.tag] == 0) group.total += duration;
    if (!call.inherited) group.duration.add(duration);
  }
};

CallGroups::CallGroups(const Recording& recording, const CodeMap& map, By by)
    : map_(map), by_(by), functions_(map), threads_(recording.threads().size()) {}
CallGroups::~CallGroups() = default;

uint32_t CallGroups::group_of(const ThreadState& thread, uint64_t pc, uint64_t time) {
  const uint32_t key = by_ == By::kThread ? thread.thread : map_.locate(thread.process, pc, time).module;
  const auto [found, added] = numbers_.try_emplace(key, static_cast<uint32_t>(groups_.size()));
  if (added) groups_.emplace_back().key = key;
  return found->second;
}

template <typename Some>
void CallGroups::add(const Some& some) {
  auto& state = threads_[some.thread];
  if (!state) state = std::make_unique<ThreadState>(some, map_);
  state->add(some, functions_, Observer{*this, *state});
}
template void CallGroups::add(const Event& some);
template void CallGroups::add(const CallRun& some);

void CallGroups::finish() {
  for (auto& thread : threads_)
    if (thread) thread->finish(Observer{*this, *thread});
}

std::vector<const CallGroup*> CallGroups::by_total() const {
  std::vector<const CallGroup*> result;
  for (const CallGroup& group : groups_) result.push_back(&group);
  std::stable_sort(result.begin(), result.end(), [](auto* a, auto* b) { return a->total > b->total; });
  return result;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// CallStacks: the stacks of one thread that do not run, and what its jump buffers mean.
//
// Why: longjmp goes back on the stack that runs; a context has a stack of its own, whose calls stay open while others run.
// Invariant: a call is on one stack only, the running one or one of these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "penna/event.h"

namespace penna {

// Call: what is known of an open one.
template <typename Call>
class CallStacks {
 public:
  // A program may put jump buffers at ever new addresses: then what is known of them is forgotten, and jumps to them are as good as
  // unknown (their calls end with the next exit of an outer one).
  static constexpr size_t kMaxBuffers = 1 << 16;

  void save(uint64_t buffer, size_t depth) {
    if (places_.size() >= kMaxBuffers) places_.clear();
    places_[buffer] = {running_, depth};
  }
  // How many calls are open where `buffer` leads to; nothing when that is not on the running stack.
  std::optional<size_t> saved_depth(uint64_t buffer) const;
  void make(uint64_t context, uint64_t link);
  // The running stack is now that of `context`, and waits.
  void suspend(uint64_t context, std::vector<Call>& running);
  void resume(uint64_t context, std::vector<Call>& running);
  // The last call of the running stack has ended: the context that it was made with goes on.
  void on_empty(std::vector<Call>& running) {
    if (running_ != 0) end_context(running);
  }
  bool take_any(std::vector<Call>& running);  // at the end; false: there is none left
  bool has_waiting() const { return !waiting_.empty(); }
  // Every call of the stacks that wait.
  template <typename Visit>
  void each_waiting(Visit&& visit) {
    for (Waiting& one : waiting_)
      for (Call& call : one.calls) visit(call);
  }

 private:
  struct Place {
    uint64_t stack = 0;  // on which
    size_t depth = 0;
  };
  struct Waiting {
    uint64_t context = 0, stack = 0;
    std::vector<Call> calls;
  };
  void end_context(std::vector<Call>& running);
  auto waiting(uint64_t context) {
    return std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.context == context; });
  }

  uint64_t running_ = 0;  // number of the running stack; 0: the thread's own
  uint64_t last_stack_ = 0;
  NumberMap<Place> places_;    // by buffer
  NumberMap<uint64_t> links_;  // by stack: the context that goes on when it ends
  std::vector<Waiting> waiting_;
};

template <typename Call>
std::optional<size_t> CallStacks<Call>::saved_depth(uint64_t buffer) const {
  const auto found = places_.find(buffer);
  if (found == places_.end() || found->second.stack != running_) return {};
  return found->second.depth;
}

template <typename Call>
void CallStacks<Call>::make(uint64_t context, uint64_t link) {
  places_.erase(context);  // getcontext had to come first
  if (waiting_.size() >= kMaxBuffers) return;
  const uint64_t stack = ++last_stack_;
  links_[stack] = link;
  if (const auto old = waiting(context); old != waiting_.end() && old->calls.empty())
    old->stack = stack;
  else
    waiting_.push_back({context, stack, {}});
}

template <typename Call>
void CallStacks<Call>::suspend(uint64_t context, std::vector<Call>& running) {
  places_.erase(context);
  if (const auto old = waiting(context); old != waiting_.end() && old->calls.empty()) waiting_.erase(old);
  waiting_.push_back({context, running_, std::exchange(running, {})});
}

// The newest of that name: an older one was never gone back to.
template <typename Call>
void CallStacks<Call>::resume(uint64_t context, std::vector<Call>& running) {
  const auto found =
      std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Waiting& one) { return one.context == context; });
  if (found == waiting_.rend()) return;
  std::vector<Call> calls = std::move(found->calls);
  const uint64_t stack = found->stack;
  waiting_.erase(std::next(found).base());
  // What was open here is left for good, unless it was suspended; it ends with the thread.
  if (!running.empty()) waiting_.push_back({0, running_, std::move(running)});
  running = std::move(calls);
  running_ = stack;
}

template <typename Call>
void CallStacks<Call>::end_context(std::vector<Call>& running) {
  const auto link = links_.find(running_);
  if (link != links_.end() && link->second != 0) resume(link->second, running);
}

template <typename Call>
bool CallStacks<Call>::take_any(std::vector<Call>& running) {
  while (!waiting_.empty()) {
    running = std::move(waiting_.back().calls);
    waiting_.pop_back();
    if (!running.empty()) return true;
  }
  return false;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// CallStacks: a thread's suspended stacks, and where its jump buffers lead.
//
// Why: longjmp unwinds the running stack; a context has its own stack, whose calls stay open while others run.
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

// Call: what is known about an open call.
template <typename Call>
class CallStacks {
 public:
  // A program may put jump buffers at ever new addresses. Past this limit all known buffers are forgotten, and jumps to
  // them count as unknown (their calls end with the next exit of an outer one).
  static constexpr size_t kMaxBuffers = 1 << 16;

  void save(uint64_t buffer, size_t depth) {
    if (places_.size() >= kMaxBuffers) places_.clear();
    places_[buffer] = {running_, depth};
  }
  // How many calls are open where `buffer` leads to; empty if that is not on the running stack.
  std::optional<size_t> saved_depth(uint64_t buffer) const;
  void make(uint64_t context, uint64_t link);
  // The running stack is now `context`'s, and suspended.
  void suspend(uint64_t context, std::vector<Call>& running);
  void resume(uint64_t context, std::vector<Call>& running);
  // The last call of the running stack has ended: the context linked to it resumes.
  void on_empty(std::vector<Call>& running) {
    if (running_ != 0) end_context(running);
  }
  bool take_any(std::vector<Call>& running);  // at the end; false: none left
  bool has_waiting() const { return count_ != 0; }
  size_t bytes() const;
  // Every call of the suspended stacks.
  template <typename Visit>
  void each_waiting(Visit&& visit) {
    for (auto of = waiting_.begin(); of != waiting_.end(); ++of)
      for (Waiting& one : of.value())
        for (Call& call : one.calls) visit(call);
  }

 private:
  struct Place {
    uint64_t stack = 0;  // number of the stack
    size_t depth = 0;
  };
  struct Waiting {
    uint64_t order = 0, stack = 0;  // order: rank among the suspended ones, the latest is highest
    std::vector<Call> calls;
    size_t bytes() const { return 64 + sizeof(Waiting) + calls.capacity() * sizeof(Call); }
  };
  void end_context(std::vector<Call>& running);
  void wait(uint64_t context, uint64_t stack, std::vector<Call> calls);
  Waiting take(uint64_t context, bool newest);
  // The oldest stack suspended under this name, if it has no open calls; else null.
  Waiting* empty_one(uint64_t context) {
    const auto found = waiting_.find(context);
    return found != waiting_.end() && found->second.front().calls.empty() ? &found.value().front() : nullptr;
  }

  uint64_t running_ = 0;  // number of the running stack; 0: the thread's own
  uint64_t last_stack_ = 0;
  NumberMap<Place> places_;                  // by buffer
  NumberMap<uint64_t> links_;                // by stack: the context that resumes when it ends
  NumberMap<std::vector<Waiting>> waiting_;  // by context; none is empty
  std::vector<Waiting> last_;                // for take_any(): in order
  size_t count_ = 0, bytes_ = 0;             // of waiting_
  uint64_t last_order_ = 0;
};

template <typename Call>
std::optional<size_t> CallStacks<Call>::saved_depth(uint64_t buffer) const {
  const auto found = places_.find(buffer);
  if (found == places_.end() || found->second.stack != running_) return {};
  return found->second.depth;
}

template <typename Call>
void CallStacks<Call>::wait(uint64_t context, uint64_t stack, std::vector<Call> calls) {
  std::vector<Waiting>& of = waiting_[context];
  of.push_back({++last_order_, stack, std::move(calls)});
  bytes_ += of.back().bytes();
  ++count_;
}

// The caller knows that there is one.
template <typename Call>
typename CallStacks<Call>::Waiting CallStacks<Call>::take(uint64_t context, bool newest) {
  const auto found = waiting_.find(context);
  std::vector<Waiting>& of = found.value();
  const auto one = newest ? std::prev(of.end()) : of.begin();
  bytes_ -= one->bytes();
  --count_;
  Waiting taken = std::move(*one);
  of.erase(one);
  if (of.empty()) waiting_.erase(found);
  return taken;
}

template <typename Call>
void CallStacks<Call>::make(uint64_t context, uint64_t link) {
  places_.erase(context);  // getcontext must have come first
  if (count_ >= kMaxBuffers) return;
  const uint64_t stack = ++last_stack_;
  links_[stack] = link;
  if (Waiting* old = empty_one(context))
    old->stack = stack;
  else
    wait(context, stack, {});
}

template <typename Call>
void CallStacks<Call>::suspend(uint64_t context, std::vector<Call>& running) {
  places_.erase(context);
  if (empty_one(context) != nullptr) take(context, false);
  wait(context, running_, std::exchange(running, {}));
}

// The newest of that name: an older one was never resumed.
template <typename Call>
void CallStacks<Call>::resume(uint64_t context, std::vector<Call>& running) {
  if (waiting_.find(context) == waiting_.end()) return;
  Waiting next = take(context, true);
  // The calls open here are abandoned, unless this stack was suspended; they end with the thread.
  if (!running.empty()) wait(0, running_, std::move(running));
  running = std::move(next.calls);
  running_ = next.stack;
}

template <typename Call>
void CallStacks<Call>::end_context(std::vector<Call>& running) {
  const auto link = links_.find(running_);
  if (link != links_.end() && link->second != 0) resume(link->second, running);
}

template <typename Call>
size_t CallStacks<Call>::bytes() const {
  return places_.bucket_count() * sizeof(std::pair<uint64_t, Place>) +
         links_.bucket_count() * sizeof(std::pair<uint64_t, uint64_t>) +
         waiting_.bucket_count() * sizeof(std::pair<uint64_t, std::vector<Waiting>>) + bytes_;
}

template <typename Call>
bool CallStacks<Call>::take_any(std::vector<Call>& running) {
  for (auto of = waiting_.begin(); of != waiting_.end(); ++of)
    std::move(of.value().begin(), of.value().end(), std::back_inserter(last_));
  if (!waiting_.empty())
    std::sort(last_.begin(), last_.end(), [](const Waiting& a, const Waiting& b) { return a.order < b.order; });
  waiting_.clear();
  count_ = bytes_ = 0;
  while (!last_.empty()) {
    running = std::move(last_.back().calls);
    last_.pop_back();
    if (!running.empty()) return true;
  }
  return false;
}

}  // namespace penna

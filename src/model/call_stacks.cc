// SPDX-License-Identifier: MIT
// See call_stacks.h.
#include "model/call_stacks.h"

#include <algorithm>
#include <utility>

namespace penna {

std::optional<size_t> CallStacks::saved_depth(uint64_t buffer) const {
  const auto found = places_.find(buffer);
  if (found == places_.end() || found->second.stack != running_) return {};
  return found->second.depth;
}

std::vector<CallStacks::Waiting>::iterator CallStacks::waiting(uint64_t context) {
  return std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.context == context; });
}

void CallStacks::make(uint64_t context, uint64_t link) {
  places_.erase(context);  // getcontext had to come first
  if (waiting_.size() >= kMaxBuffers) return;
  const uint64_t stack = ++last_stack_;
  links_[stack] = link;
  if (const auto old = waiting(context); old != waiting_.end() && old->calls.empty())
    old->stack = stack;
  else
    waiting_.push_back({context, stack, {}});
}

void CallStacks::suspend(uint64_t context, std::vector<OpenCall>& running) {
  places_.erase(context);
  if (const auto old = waiting(context); old != waiting_.end() && old->calls.empty()) waiting_.erase(old);
  waiting_.push_back({context, running_, std::exchange(running, {})});
}

// The newest of that name: an older one was never gone back to.
void CallStacks::resume(uint64_t context, std::vector<OpenCall>& running) {
  const auto found =
      std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Waiting& one) { return one.context == context; });
  if (found == waiting_.rend()) return;
  std::vector<OpenCall> calls = std::move(found->calls);
  const uint64_t stack = found->stack;
  waiting_.erase(std::next(found).base());
  // What was open here is left for good, unless it was suspended; it ends with the thread.
  if (!running.empty()) waiting_.push_back({0, running_, std::move(running)});
  running = std::move(calls);
  running_ = stack;
}

void CallStacks::end_context(std::vector<OpenCall>& running) {
  const auto link = links_.find(running_);
  if (link != links_.end() && link->second != 0) resume(link->second, running);
}

bool CallStacks::take_any(std::vector<OpenCall>& running) {
  while (!waiting_.empty()) {
    running = std::move(waiting_.back().calls);
    waiting_.pop_back();
    if (!running.empty()) return true;
  }
  return false;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// CallMatcher: pairs the entries and exits of one thread into calls.
//
// Why one place: totals, trees, replay and exports must agree on what a call is when entries or exits are missing
// (longjmp, killed threads, lost events, a recording that began in the middle).
// Invariant: every entry ends exactly once: by its exit, because an outer call ended (unwound), or at the end (open).
// Memory: one OpenCall for each open call, at most kMaxDepth, and a few bytes for each function seen.
#pragma once

#include <cstdint>
#include <vector>

#include "model/hash.h"

namespace penna {

struct OpenCall {
  uint64_t pc = 0;        // as recorded
  uint64_t begin = 0;     // ticks
  uint64_t inner = 0;     // ticks spent in calls it made, so far
  uint32_t slot = 0;      // number of the function in this matcher, from 0
  uint32_t tag = 0;       // the observer's, set in on_enter
  bool outermost = true;  // no other call of the same function is open outside it
};

enum class CallEnd : uint8_t {
  kExit,     // its own exit was recorded
  kUnwound,  // an outer function was left: longjmp, or its exit was lost
  kOpen,     // not left when the thread's events ended
};

// What could not be paired.
struct CallCounts {
  uint64_t calls = 0;        // entries
  uint64_t unwound = 0;      // calls that ended with an outer one
  uint64_t open = 0;         // calls open at the end
  uint64_t stray_exits = 0;  // exits of functions that were not open
  uint64_t too_deep = 0;     // entries beyond kMaxDepth: not looked at
  void add(const CallCounts& other) {
    calls += other.calls;
    unwound += other.unwound;
    open += other.open;
    stray_exits += other.stray_exits;
    too_deep += other.too_deep;
  }
};

class CallMatcher {
 public:
  static constexpr size_t kMaxDepth = 1 << 20;

  // Observer: void on_enter(OpenCall&, size_t depth), depth 0 for the outermost;
  //           void on_leave(const OpenCall&, uint64_t end, CallEnd how, size_t depth).
  // `key` tells functions apart: the pc, or something finer where code was replaced.
  template <typename Observer>
  void enter(uint64_t key, uint64_t pc, uint64_t time, Observer&& observer) {
    ++counts_.calls;
    if (stack_.size() >= kMaxDepth) {
      ++counts_.too_deep;
      ++beyond_;
      return;
    }
    const uint32_t slot = slot_of(key);
    OpenCall& call = stack_.emplace_back(OpenCall{pc, time, 0, slot, 0, active_[slot]++ == 0});
    observer.on_enter(call, stack_.size() - 1);
  }

  // False when the function was not open: counted, nothing else happens.
  template <typename Observer>
  bool exit(uint64_t key, uint64_t pc, uint64_t time, Observer&& observer) {
    if (beyond_ != 0) {
      --beyond_;
      return true;
    }
    if (!stack_.empty() && stack_.back().pc == pc) [[likely]] {
      pop(time, CallEnd::kExit, observer);
      return true;
    }
    auto found = slots_.find(key);
    if (found == slots_.end() || active_[found->second] == 0) {
      ++counts_.stray_exits;
      return false;
    }
    while (stack_.back().slot != found->second) pop(time, CallEnd::kUnwound, observer);
    pop(time, CallEnd::kExit, observer);
    return true;
  }

  // The thread's events are over.
  template <typename Observer>
  void finish(uint64_t time, Observer&& observer) {
    while (!stack_.empty()) pop(time, CallEnd::kOpen, observer);
    beyond_ = 0;
  }

  size_t depth() const { return stack_.size(); }
  const std::vector<OpenCall>& stack() const { return stack_; }
  const CallCounts& counts() const { return counts_; }

 private:
  template <typename Observer>
  void pop(uint64_t time, CallEnd how, Observer& observer) {
    const OpenCall call = stack_.back();
    stack_.pop_back();
    --active_[call.slot];
    if (how == CallEnd::kUnwound) ++counts_.unwound;
    if (how == CallEnd::kOpen) ++counts_.open;
    if (!stack_.empty()) stack_.back().inner += time - call.begin;
    observer.on_leave(call, time, how, stack_.size());
  }

  uint32_t slot_of(uint64_t key) {
    auto [found, added] = slots_.try_emplace(key, static_cast<uint32_t>(active_.size()));
    if (added) active_.push_back(0);
    return found->second;
  }

  std::vector<OpenCall> stack_;
  std::vector<uint32_t> active_;  // by slot: open calls of the function
  NumberMap<uint32_t> slots_;
  uint64_t beyond_ = 0;  // open calls that are not on the stack because it was full
  CallCounts counts_;
};

}  // namespace penna

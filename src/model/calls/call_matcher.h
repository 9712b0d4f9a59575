// SPDX-License-Identifier: MIT
// CallMatcher: pairs the entries and exits of one thread into calls.
//
// Why one place: totals, trees, replay and exports must agree on what a call is when entries or exits are missing
// (longjmp, killed threads, lost events, a recording that began in the middle).
// A thread may have several stacks (contexts), one of them running; a jump leaves calls behind without exits, and is
// recorded.
// Invariant: every entry ends exactly once: by its exit, by a jump, because an outer call ended (unwound), or at the
// end (open).
// Memory: one OpenCall per open call, at most kMaxDepth a stack, and a few bytes per function and jump buffer seen.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "recording/call_stacks.h"

namespace penna {

struct OpenCall {
  uint64_t pc = 0;         // as recorded
  uint64_t begin = 0;      // ticks
  uint64_t inner = 0;      // ticks spent in calls it made, so far
  uint32_t slot = 0;       // number of the function in this matcher, from 0
  uint32_t tag = 0;        // the observer's, set in on_enter
  bool inherited = false;  // entered before the fork of its process: counted where it was entered
  bool outermost = true;   // no call of the same function is open outside it
};

enum class CallEnd : uint8_t {
  kExit,     // its own exit was recorded
  kJump,     // longjmp or setcontext left it
  kUnwound,  // an outer function was left with no sign of how: this exit was lost
  kOpen,     // not left when the thread's events ended
};

// What could not be paired.
struct CallCounts {
  uint64_t calls = 0;        // entries
  uint64_t jumped = 0;       // calls that a jump ended
  uint64_t unwound = 0;      // calls that ended with an outer one
  uint64_t open = 0;         // calls open at the end
  uint64_t stray_exits = 0;  // exits of functions that were not open
  uint64_t outer_exits = 0;  // of these: with no call open
  uint64_t inherited = 0;    // outer exits in a forked process, no longer stray: its parent had entered these functions
  uint64_t too_deep = 0;     // entries beyond kMaxDepth: ignored
  void add(const CallCounts& other) {
    calls += other.calls;
    jumped += other.jumped;
    unwound += other.unwound;
    open += other.open;
    stray_exits += other.stray_exits;
    outer_exits += other.outer_exits;
    inherited += other.inherited;
    too_deep += other.too_deep;
  }
};

class CallMatcher {
 public:
  static constexpr size_t kMaxDepth = 1 << 20;

  // Observer: void on_enter(OpenCall&, size_t depth), depth 0 for the outermost;
  //           void on_leave(const OpenCall&, uint64_t end, CallEnd how, size_t depth); the call is still on
  //           the stack, at `depth`.
  // `key` identifies a function: the pc, or something finer where code was replaced.
  template <typename Observer>
  [[gnu::always_inline]] void enter(uint64_t key, uint64_t pc, uint64_t time, Observer&& observer,
                                    bool inherited = false) {
    counts_.calls += !inherited;
    if (stack_.size() >= kMaxDepth) {
      ++counts_.too_deep;
      ++beyond_;
      return;
    }
    const uint32_t slot = slot_of(key);
    OpenCall& call = stack_.emplace_back();  // filled in field by field: see pop()
    call.pc = pc;
    call.begin = time;
    call.slot = slot;
    call.inherited = inherited;
    call.outermost = active_[slot]++ == 0;
    observer.on_enter(call, stack_.size() - 1);
  }

  // False if the function was not open: the exit is counted, nothing else happens.
  template <typename Observer>
  [[gnu::always_inline]] bool exit(uint64_t key, uint64_t pc, uint64_t time, Observer&& observer) {
    if (beyond_ == 0 && !stack_.empty() && stack_.back().pc == pc) [[likely]] {
      pop(time, CallEnd::kExit, observer);
      if (stack_.empty()) stacks_.on_empty(stack_);
      return true;
    }
    return exit_of_other(key, time, observer);
  }

  template <typename Observer>
  void jump(const penna_jump& jump, uint64_t time, Observer&& observer) {
    switch (jump.what) {
      case PENNA_JUMP_SAVE: stacks_.save(jump.buffer, stack_.size()); break;
      case PENNA_JUMP_MAKE: stacks_.make(jump.buffer, jump.other); break;
      case PENNA_JUMP_SWITCH: stacks_.suspend(jump.other, stack_); [[fallthrough]];
      case PENNA_JUMP_GO:
        if (const auto depth = stacks_.saved_depth(jump.buffer))
          while (stack_.size() > *depth) pop(time, CallEnd::kJump, observer);
        else
          stacks_.resume(jump.buffer, stack_);
        break;
      default: break;
    }
  }

  // The thread has no more events.
  template <typename Observer>
  void finish(uint64_t time, Observer&& observer) {
    do {
      while (!stack_.empty()) pop(time, CallEnd::kOpen, observer);
    } while (stacks_.take_any(stack_));
    beyond_ = 0;
  }

  size_t depth() const { return stack_.size(); }
  const std::vector<OpenCall>& stack() const { return stack_; }
  const CallCounts& counts() const { return counts_; }

 private:
  // Exit of a function that is not the innermost.
  template <typename Observer>
  [[gnu::noinline]] bool exit_of_other(uint64_t key, uint64_t time, Observer& observer) {
    if (beyond_ != 0) {
      --beyond_;
      return true;
    }
    auto found = slots_.find(key);
    if (found == slots_.end() || active_[found->second] == 0 || !is_open_here(found->second)) {
      ++counts_.stray_exits;
      counts_.outer_exits += stack_.empty();
      return false;
    }
    while (stack_.back().slot != found->second) pop(time, CallEnd::kUnwound, observer);
    pop(time, CallEnd::kExit, observer);
    return true;
  }

  template <typename Observer>
  [[gnu::always_inline]] void pop(uint64_t time, CallEnd how, Observer& observer) {
    // No copy: it would load several fields at once that were stored one by one, which defeats store forwarding.
    const OpenCall& call = stack_.back();
    --active_[call.slot];
    if (how != CallEnd::kExit && !call.inherited) [[unlikely]] {
      if (how == CallEnd::kJump) ++counts_.jumped;
      if (how == CallEnd::kUnwound) ++counts_.unwound;
      if (how == CallEnd::kOpen) ++counts_.open;
    }
    const size_t depth = stack_.size() - 1;
    if (depth != 0) stack_[depth - 1].inner += time - call.begin;
    observer.on_leave(call, time, how, depth);
    stack_.pop_back();
  }

  bool is_open_here(uint32_t slot) const {
    return std::any_of(stack_.rbegin(), stack_.rend(), [slot](const OpenCall& call) { return call.slot == slot; });
  }

  [[gnu::always_inline]] uint32_t slot_of(uint64_t key) {
    Known& known = known_[key * 0x9e3779b97f4a7c15 >> 56];
    if (known.slot_1 == 0 || known.key != key) [[unlikely]] {
      auto [found, added] = slots_.try_emplace(key, static_cast<uint32_t>(active_.size()));
      if (added) active_.push_back(0);
      known = {key, found->second + 1};
    }
    return known.slot_1 - 1;
  }

  struct Known {
    uint64_t key = 0;
    uint32_t slot_1 = 0;  // 0: empty
  };

  std::vector<OpenCall> stack_;
  std::vector<uint32_t> active_;  // by slot: open calls of the function
  NumberMap<uint32_t> slots_;
  std::array<Known, 256> known_;  // cache of slots_
  CallStacks<OpenCall> stacks_;
  uint64_t beyond_ = 0;  // open calls that are not on the stack because it was full
  CallCounts counts_;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// FilterChanges: filters that were set, or removed, while a recording was made (penna ctl PID on -F 'serve*').
//
// As with KindSwitches, what begins while a filter is set and does not meet it is left out as a whole, and what had
// begun before is kept to its end.
// Invariant: times and numbers only grow, so a thread's events meet each change once. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "filter/where.h"
#include "recording/types.h"

namespace penna {

// Which functions' calls are kept, by their names. Copies share what they have learnt.
struct ChosenFunctions {
  struct Answer {
    bool chosen = true;
    bool lasting = true;  // false: another function may have this address at another time
  };
  std::function<Answer(uint32_t process, uint64_t pc, uint64_t ticks)> ask;  // empty: all are chosen
  std::function<bool(uint32_t process, const Module& module)> learn;         // true: it is new
};

class FilterChanges {
 public:
  using Conditions = std::shared_ptr<const std::vector<Where>>;

  // From `ticks` on these filters are set, and none of those before.
  void add(uint64_t ticks, Conditions conditions, ChosenFunctions functions) {
    has_conditions_ |= !conditions->empty();
    has_functions_ |= functions.ask != nullptr;
    if (!changes_.empty()) ticks = std::max(ticks, changes_.back().ticks);
    changes_.push_back({++count_, ticks, std::move(conditions), std::move(functions)});
    if (changes_.size() > kMostKept) changes_.erase(changes_.begin());
  }

  bool any() const { return !changes_.empty(); }
  bool has_conditions() const { return has_conditions_; }  // at any time
  bool has_functions() const { return has_functions_; }    // likewise

  // The number of the last change before then; 0: there was none.
  uint64_t number(uint64_t ticks) const {
    const Change* const change = at(ticks);
    return change == nullptr ? 0 : change->number;
  }
  // Null: none were set. Valid until the next add().
  const std::vector<Where>* conditions(uint64_t ticks) const {
    const Change* const change = at(ticks);
    return change == nullptr ? nullptr : change->conditions.get();
  }
  ChosenFunctions::Answer function(uint32_t process, uint64_t pc, uint64_t ticks) const {
    const Change* const change = at(ticks);
    return change == nullptr || !change->functions.ask ? ChosenFunctions::Answer()
                                                       : change->functions.ask(process, pc, ticks);
  }
  // True if functions must be asked about again.
  bool learn(uint32_t process, const Module& module) const {
    bool is_new = false;
    for (const Change& change : changes_)
      if (change.functions.learn) is_new |= change.functions.learn(process, module);
    return is_new;
  }

 private:
  // Chunks arrive soon after what is in them has happened: older changes concern no event that is still to come.
  static constexpr size_t kMostKept = 16;
  struct Change {
    uint64_t number, ticks;
    Conditions conditions;
    ChosenFunctions functions;
  };
  // What is older than the oldest change that is kept is judged by that one.
  const Change* at(uint64_t ticks) const {
    for (size_t i = changes_.size(); i-- > 0;)
      if (changes_[i].ticks <= ticks || (i == 0 && changes_[i].number > 1)) return &changes_[i];
    return nullptr;
  }

  std::vector<Change> changes_;
  uint64_t count_ = 0;
  bool has_conditions_ = false, has_functions_ = false;
};

}  // namespace penna

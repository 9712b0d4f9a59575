// SPDX-License-Identifier: MIT
// CallGroups: calls by calling thread, or by the callee's module.
//
// Usage: like Calls. All durations are ticks.
// Invariant: a group's `total` counts calls nested in calls of the same group once; the sum of all `self` is that of
// Calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "model/events/distribution.h"
#include "model/events/events.h"
#include "model/names/code_map.h"

namespace penna {

struct CallGroup {
  uint32_t key = 0;  // thread index, or ModuleId (kNoModule: addresses in no known module)
  uint64_t calls = 0;
  uint64_t total = 0;
  uint64_t self = 0;
  Distribution duration;  // of every call, including its callees
};

class CallGroups {
 public:
  enum class By { kThread, kModule };
  // `map` must outlive it.
  CallGroups(const Recording& recording, const CodeMap& map, By by);
  ~CallGroups();

  void operator()(const Event& event) {
    if (event.record.changes_calls()) add(event);
  }
  void operator()(const CallRun& run) { add(run); }
  void finish();

  By by() const { return by_; }
  std::vector<const CallGroup*> by_total() const;  // most time first

 private:
  struct ThreadState;
  struct Observer;
  template <typename Some>  // an Event or a CallRun
  void add(const Some& some);
  uint32_t group_of(const ThreadState& thread, uint64_t pc, uint64_t time);

  const CodeMap& map_;
  By by_;
  FunctionTable functions_;
  std::vector<CallGroup> groups_;
  NumberMap<uint32_t> numbers_;                        // key -> index in groups_
  std::vector<std::unique_ptr<ThreadState>> threads_;  // by thread; null without calls
};

}  // namespace penna

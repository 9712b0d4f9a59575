// SPDX-License-Identifier: MIT
// CriticalPath: what a thread's time was spent on, followed through the threads that ended its waits.
//
// Why: that a thread waited is half the answer; the other half is what the thread it waited for was doing. At the end
// of a wait the path moves to the thread that ended it (released the lock, signalled, ended), and backwards from there
// (Hollingsworth, "An online computation of critical path profiling", SPDT 1996).
// Usage:  const LockStep step = held.take(event); history(event, step); ... history.finish(open_ends(...));
//         CriticalPath path = critical_path(history, thread, begin, end);
// Invariant: the parts of a path add up to its end - begin.
// Memory: kMostWaits; beyond that the oldest are dropped, and the path is unknown before them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/locks/holder_tracker.h"

namespace penna {

struct TimedWait {
  uint64_t begin = 0, end = 0;
  uint32_t object = kNoIndex;
  uint32_t stack = 0;
  uint32_t waker = kNoIndex;  // thread; kNoIndex: unknown
  uint32_t taken_stack = 0;   // where the waker had taken the lock, or where it signalled
  uint64_t wake_time = 0;     // when the waker ended the wait
  uint64_t held_since = 0;    // by the waker; 0: it held nothing
};

class WaitHistory {
 public:
  static constexpr size_t kMostWaits = 1 << 20;

  explicit WaitHistory(const HolderTracker& held);
  void operator()(const Event& event, const LockStep& step);
  void finish(std::span<const uint64_t> ends);  // open_ends()

  const HolderTracker& held() const { return held_; }
  const std::vector<TimedWait>& of(uint32_t thread) const { return waits_[thread]; }  // in time order, disjoint
  uint64_t forgotten_until() const { return forgotten_until_; }                       // ticks; 0: none was forgotten

 private:
  struct Release {
    uint32_t thread = kNoIndex, stack = 0;
    uint64_t time = 0, since = 0;
  };
  Release& release_of(uint32_t object);
  void end_wait(const Event& event, const LockStep& step);
  void add(uint32_t thread, TimedWait wait);
  void forget_half();

  const HolderTracker& held_;
  std::vector<std::vector<TimedWait>> waits_;  // by thread
  std::vector<Release> releases_;              // by object: the last one
  size_t count_ = 0;
  uint64_t forgotten_until_ = 0;
};

// Stretches of a path with the same thread, kind, object and stack form one part.
struct PathPart {
  enum class What : uint8_t {
    kRan,         // or slept, or waited for something that is not recorded
    kRanHolding,  // the same, while the path's next thread waited for `object`
    kWaited,      // for `object`: from when it could have gone on, or the whole wait if it is unknown who ended it
    kNotKnown,    // before the oldest wait remembered
  };
  uint32_t thread = kNoIndex;
  What what = What::kRan;
  uint32_t object = kNoIndex;
  uint32_t stack = 0;  // where the lock was taken, or waited for
  uint64_t time = 0;   // ticks
  uint64_t count = 0;
};

struct CriticalPath {
  uint32_t thread = 0;
  uint64_t begin = 0, end = 0;
  std::vector<PathPart> parts;  // most time first
};

// A piece of a path as the walk finds it, last one first: `part` describes [begin, end), in ticks.
using PathVisitor = std::function<void(const PathPart& part, uint64_t begin, uint64_t end)>;

CriticalPath critical_path(const WaitHistory& history, uint32_t thread, uint64_t begin, uint64_t end,
                           const PathVisitor& visit = {});

}  // namespace penna

// SPDX-License-Identifier: MIT
// WaitAnalyses: the passes of the model that tell who waits for whom. All observe one HolderTracker.
// Invariant: a pass that was not asked for is null; deadlocks are always there.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/events/summary.h"
#include "model/locks/critical_path.h"
#include "model/locks/deadlocks.h"
#include "model/locks/lock_order.h"
#include "model/locks/wait_chains.h"
#include "model/names/names.h"

namespace penna {

class LockBlocks;

class WaitAnalyses {
 public:
  // `held` must outlive it.
  WaitAnalyses(const HolderTracker& held, bool order, bool chains, bool history);

  // After the tracker has applied the step.
  void operator()(const Event& event, const LockStep& step) {
    if (order_) (*order_)(event, step);
    if (chains_) (*chains_)(event, step);
    if (history_) (*history_)(event, step);
  }
  // What lies before the range that is read: it tells who holds and waits for what, and counts for
  // nothing. The order of locks needs no past: an order that was seen before the range is not one
  // of it.
  void past(const Event& event, const LockStep& step) {
    if (chains_) (*chains_)(event, step);
    if (history_) (*history_)(event, step);
  }
  // Before the tracker's.
  void begin_range(uint64_t begin) {
    if (chains_) chains_->begin_range(begin);
  }
  void finish(uint64_t last_time);

  const HolderTracker& held() const { return held_; }
  const Deadlocks& deadlocks() const { return deadlocks_; }
  const LockOrder* order() const { return order_.get(); }
  const WaitChains* chains() const { return chains_.get(); }
  const WaitHistory* history() const { return history_.get(); }
  // Ticks, up to when open waits count.
  uint64_t end() const { return end_; }

 private:
  const HolderTracker& held_;
  std::unique_ptr<LockOrder> order_;
  std::unique_ptr<WaitChains> chains_;
  std::unique_ptr<WaitHistory> history_;
  Deadlocks deadlocks_;
  uint64_t end_ = 0;  // ticks
};

// Of whom the critical path is: of a thread (name or tid), or of the slowest span of this name. At most one is not
// empty.
struct PathOptions {
  std::string thread, span;
  bool any() const { return !thread.empty() || !span.empty(); }
};
// The error says who there is.
Result<CriticalPath> find_path(const Recording& recording, const Summary& summary, const WaitHistory& history,
                               const PathOptions& options);

// The end of the recording, or of the part of it that is read.
uint64_t end_of_reading(const Recording& recording, const Summary& summary);

}  // namespace penna

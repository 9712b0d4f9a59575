// SPDX-License-Identifier: MIT
// WaitAnalyses: the passes of the model that show who waits for whom. All observe one HolderTracker.
// Invariant: a pass that was not asked for is null; deadlocks are always available.
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

  // Called after the tracker has applied the step.
  void operator()(const Event& event, const LockStep& step) {
    if (order_) (*order_)(event, step);
    if (chains_) (*chains_)(event, step);
    if (history_) (*history_)(event, step);
  }
  // Events before the range that is read: they establish who holds and waits for what, and do not count. Lock order
  // needs no past: an order seen before the range is not part of it.
  void past(const Event& event, const LockStep& step) {
    if (chains_) (*chains_)(event, step);
    if (history_) (*history_)(event, step);
  }
  // Call before the tracker's.
  void begin_range(uint64_t begin) {
    if (chains_) chains_->begin_range(begin);
  }
  void finish(std::vector<uint64_t> ends);  // open_ends()

  const HolderTracker& held() const { return held_; }
  const Deadlocks& deadlocks() const { return deadlocks_; }
  const LockOrder* order() const { return order_.get(); }
  const WaitChains* chains() const { return chains_.get(); }
  const WaitHistory* history() const { return history_.get(); }
  // By process: open waits count up to it.
  const std::vector<uint64_t>& ends() const { return ends_; }

 private:
  const HolderTracker& held_;
  std::unique_ptr<LockOrder> order_;
  std::unique_ptr<WaitChains> chains_;
  std::unique_ptr<WaitHistory> history_;
  Deadlocks deadlocks_;
  std::vector<uint64_t> ends_;
};

// Whose critical path: a thread's (name or tid), or that of the slowest span of this name. At most one is nonempty.
struct PathOptions {
  std::string thread, span;
  bool any() const { return !thread.empty() || !span.empty(); }
};
// The error lists the candidates.
Result<CriticalPath> find_path(const Recording& recording, const Summary& summary, const WaitHistory& history,
                               const PathOptions& options);
}  // namespace penna

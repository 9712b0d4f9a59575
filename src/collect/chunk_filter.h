// SPDX-License-Identifier: MIT
// ChunkFilter: removes records from one process's chunks, as requested from `penna record` (--where, -F, --min-time,
// --range, --thread and similar options).
//
// Why here and not in the target: it costs the target nothing, and may take its time (docs/decisions/0012).
// Invariant: all remaining records keep their meaning; removed ones are counted. If a chunk arrives after a later one
// of its thread, its calls are kept: their surrounding calls are no longer known.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "collect/budget.h"
#include "collect/open_then.h"
#include "filter/call_sieve.h"
#include "filter/point_selection.h"
#include "filter/thread_choice.h"

namespace penna {

class ChunkFilter {
 public:
  // `rules`: rough, for one recording; null: no rules about calls. `forked`: its first thread continues inside
  // calls of its parent. Not movable: rules_.ask holds `this`. `wanted`: threads; null: all.
  ChunkFilter(uint32_t process, std::shared_ptr<const std::vector<Where>> conditions, const CallRules* rules,
              std::shared_ptr<Budget> budget = nullptr, bool forked = false,
              std::shared_ptr<const ThreadChoice> wanted = nullptr);
  ChunkFilter(const ChunkFilter&) = delete;
  ChunkFilter& operator=(const ChunkFilter&) = delete;

  // What is switched while recording; must outlive it. `is_late`: its process has written before, so nothing is known
  // about calls that are open. Call before the first chunk.
  void set_switches(std::shared_ptr<const KindSwitches> switches, bool is_late = false) {
    rules_.switches = std::move(switches);
    is_late_ = is_late;
  }

  // Filters that are set while recording. The caller then tells what was described before.
  void set_changes(std::shared_ptr<const FilterChanges> changes);

  void learn(const Module& module);
  void learn(Site site);
  // Learns the sites and modules that a chunk describes.
  void learn(std::span<const uint8_t> chunk);
  // The remaining part of a chunk: the chunk itself, or a buffer that is valid until the next call. The descriptions of
  // its records were learnt before, from any chunk.
  std::span<const uint8_t> apply(std::span<const uint8_t> chunk);
  // The same for a piece of a chunk that is still being filled: what was added since the last piece. It comes again
  // with the whole chunk, which is filtered as if no piece had been seen; so nothing is counted.
  std::span<const uint8_t> preview(std::span<const uint8_t> piece);
  // The next piece of this thread's open chunk begins where the chunk does.
  void preview_again(uint32_t serial) { ahead_.erase(serial); }

  // Whether all earlier chunks of its thread have arrived, if that matters.
  bool is_next(const penna_chunk& header) const;

  // Drops everything after this time, in ticks: the end of the recording is known.
  void end_at(uint64_t ticks);

  // Before its first chunk: the calls that its first thread has been in since then, outermost first.
  void inherit(std::vector<uint64_t> pcs, uint64_t ticks);
  const RecentOpenCalls& open_then() const { return open_then_; }
  RecentOpenCalls take_open_then() { return std::move(open_then_); }

  // It then needs chunks in order.
  bool has_rules() const {
    return rules_.any() || selection_ || is_switched(PENNA_CALLS) ||
           (rules_.changes && rules_.changes->has_functions());
  }
  uint64_t points_left_out() const { return points_left_out_; }
  uint64_t sites_matched() const { return points_ ? points_->sites_matched() : 0; }
  uint64_t calls_left_out() const;
  uint64_t events_left_out() const;
  uint64_t others_left_out() const { return others_left_out_; }  // events of unwanted threads
  uint64_t switched_out() const;  // events that began while their kind was off; a call counts once
  uint64_t late_threads() const { return late_threads_; }  // wanted threads that had already lost some events
  size_t threads() const { return threads_.size(); }

 private:
  // The number of chunks kept for a thread that may still get a wanted name. Threads usually name themselves soon after
  // their start; more would fill the recording with unwanted threads.
  static constexpr uint64_t kUndecidedChunks = 4;
  struct Thread {
    CallSieve sieve;
    uint64_t next = 0;  // sequence number of its next chunk
    size_t weight = 0;  // in the budget
    bool was_left_out = false, is_late = false;
  };
  // The state of a thread after the pieces of its open chunk.
  struct Ahead {
    uint32_t serial = 0;
    uint64_t sequence = 0;  // of the chunk
    std::unique_ptr<Thread> thread;
    PointSelection::OpenSpans spans;
  };
  bool is_switched(uint32_t event_class) const { return rules_.switches && rules_.switches->any(event_class); }
  void leave_out_switched(std::span<const uint8_t> chunk, ChunkCut& cut);
  std::span<const uint8_t> sift(std::span<const uint8_t> chunk);
  void weigh();
  ChunkCut sift_calls(std::span<const uint8_t> chunk);
  bool is_wanted(const penna_chunk& header, Thread& thread);
  void leave_out_others(std::span<const uint8_t> chunk, ChunkCut& cut);

  uint32_t process_;
  bool forked_;  // and the calls it continues in are unknown
  bool is_late_ = false;
  std::vector<uint64_t> inherited_;
  uint64_t inherited_ticks_ = 0;
  RecentOpenCalls open_then_;
  std::optional<PointSelection> points_;
  uint64_t points_left_out_ = 0, switched_out_ = 0;
  std::optional<ThreadSelection> selection_;
  uint64_t others_left_out_ = 0, late_threads_ = 0;
  CallRules rules_;
  Budget::Share share_;
  size_t weight_ = 0;                                              // of points_
  std::unordered_map<uint32_t, std::unique_ptr<Thread>> threads_;  // by serial
  std::unordered_map<uint32_t, Ahead> ahead_;                      // likewise; no more than threads_
  std::vector<uint8_t> left_;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// ChunkFilter: takes what `penna record` was asked to leave out (--where, -F, --min-time, --range, --thread and their
// kin) out of the chunks of one process.
//
// Why here and not in the target: it costs nothing there, and may be as long as it likes (docs/decisions/0012).
// Invariant: what is left says the same of every other record; what is taken out is counted. A chunk that comes when
// one behind it was seen already keeps its calls: what led to them is no longer known.
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
#include "recording/thread_choice.h"

namespace penna {

class ChunkFilter {
 public:
  // `rules` are rough, of one recording; null: no rules about calls. `forked`: its first thread goes on amid calls of
  // its parent. Not to be moved: rules_.ask holds `this`.
  // `wanted`: of threads; null: all.
  ChunkFilter(uint32_t process, std::shared_ptr<const std::vector<Where>> conditions, const CallRules* rules,
              std::shared_ptr<Budget> budget = nullptr, bool forked = false,
              std::shared_ptr<const ThreadChoice> wanted = nullptr);
  ChunkFilter(const ChunkFilter&) = delete;
  ChunkFilter& operator=(const ChunkFilter&) = delete;

  // Learns the sites and modules that a chunk describes.
  void learn(std::span<const uint8_t> chunk);
  // What is left of a chunk whose descriptions were learnt: the chunk itself, or valid until the next call.
  // `look_elsewhere` shall learn() what else there is: called when a site or a module is unknown, because the thread
  // that has described it still holds that chunk.
  std::span<const uint8_t> apply(std::span<const uint8_t> chunk, const std::function<void()>& look_elsewhere);
  // The same of a piece of a chunk that is still being filled: what came since the piece before. It will come again
  // with the whole chunk, which is judged as if no piece had been seen; so nothing is counted.
  std::span<const uint8_t> preview(std::span<const uint8_t> piece);

  // Whether all chunks of its thread in front of this one have come, if that matters.
  bool is_next(const penna_chunk& header) const;

  // Nothing is kept from here on, in ticks: it is known by now when the recording ends.
  void end_at(uint64_t ticks);

  // Before its first chunk: what its first thread goes on in, since then, outermost first.
  void inherit(std::vector<uint64_t> pcs, uint64_t ticks);
  const OpenThen& open_then() const { return open_then_; }
  OpenThen take_open_then() { return std::move(open_then_); }

  bool has_rules() const { return rules_.any() || selection_; }  // so that it needs chunks in order
  uint64_t points_left_out() const { return points_left_out_; }
  uint64_t sites_met() const { return points_ ? points_->sites_met() : 0; }
  uint64_t calls_left_out() const;
  uint64_t events_left_out() const;
  uint64_t others_left_out() const { return others_left_out_; }  // events of threads that are not wanted
  uint64_t late_threads() const { return late_threads_; }        // that were wanted when some of theirs were gone
  size_t threads() const { return threads_.size(); }

 private:
  // Of a thread that may still get a name that is wanted so many chunks are kept.
  static constexpr uint64_t kUndecidedChunks = 4;
  struct Thread {
    CallSieve sieve;
    uint64_t next = 0;  // sequence of its next chunk
    size_t weight = 0;  // in the budget
    bool was_left_out = false, is_late = false;
  };
  // Where a thread is behind the pieces of its open chunk.
  struct Ahead {
    uint32_t serial = 0;
    uint64_t sequence = 0;  // of the chunk
    std::unique_ptr<Thread> thread;
    PointSelection::OpenSpans spans;
  };
  std::span<const uint8_t> sift(std::span<const uint8_t> chunk, const std::function<void()>& look_elsewhere);
  FunctionTraits ask(uint32_t process, uint64_t pc, uint64_t ticks);
  bool is_new(uint64_t id_or_pc);
  void look_once();
  void weigh();
  ChunkCut sift_calls(std::span<const uint8_t> chunk);
  bool is_wanted(const penna_chunk& header, Thread& thread);
  void leave_out_others(std::span<const uint8_t> chunk, ChunkCut& cut);

  uint32_t process_;
  bool forked_;  // and nobody knows amid which calls
  std::vector<uint64_t> inherited_;
  uint64_t inherited_ticks_ = 0;
  OpenThen open_then_;
  std::optional<PointSelection> points_;
  uint64_t points_left_out_ = 0;
  std::optional<ThreadSelection> selection_;
  uint64_t others_left_out_ = 0, late_threads_ = 0;
  std::unordered_set<uint64_t> nowhere_;  // ids of sites and pcs that were looked for in vain
  CallRules rules_;
  std::function<FunctionTraits(uint32_t, uint64_t, uint64_t)> ask_;  // of the rules that were given
  Budget::Share share_;
  size_t weight_ = 0;                                              // of points_ and nowhere_
  std::unordered_map<uint32_t, std::unique_ptr<Thread>> threads_;  // by serial
  std::unordered_map<uint32_t, Ahead> ahead_;                      // likewise; no more than threads_
  uint32_t generation_ = 0;                                        // of modules, the highest that was looked for
  const std::function<void()>* look_elsewhere_ = nullptr;          // not yet called for this chunk
  std::vector<uint8_t> left_;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// HeapChanges: the allocations and frees of one process as self-contained changes: each free names its block.
//
// Why: heap profiler formats describe one process, in time order, and know neither a free of nothing nor a realloc that
// failed. Two passes: a writer needs the first one's sums (which process, its peak) before its first line.
// Invariant: summed up over its changes, a process has the totals that Allocations has for it.
// Memory: Allocations', and the live blocks.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "model/blocks/allocations.h"
#include "model/events/block_records.h"
#include "model/events/events.h"

namespace penna {

struct HeapChange {
  bool is_free = false;
  bool temporary = false;   // for a free: as in StackAllocations::temporary
  bool counts = true;       // its block was allocated by a thread that was asked for
  uint32_t thread = 0;      // index
  uint32_t family = 0;      // penna_alloc_family, of the function called; may be unknown
  uint32_t stack = 0;       // of the allocation, also at its free
  uint32_t freed_from = 0;  // for a free: its own stack; 0: not recorded
  uint64_t time = 0;        // ticks
  uint64_t begin = 0;       // ticks, of the allocation
  uint64_t address = 0;
  uint64_t size = 0;  // bytes requested
};

// Which changes to show: those of blocks allocated in [begin, end), up to `end`.
struct HeapPick {
  uint64_t begin = 0, end = UINT64_MAX;  // ticks
  uint64_t most = UINT64_MAX;            // for lists of live blocks: the most at one time, later ones are left out
  uint32_t depth = 256;                  // texts have at most this many frames of a stack; recordings have at most 256
  bool times = true;                     // event texts include them
  std::vector<uint64_t> stacks_of_sizes{};  // texts include stacks only for blocks of these sizes; empty: for all
  bool wants_stack(uint64_t size) const {
    return stacks_of_sizes.empty() ||
           std::find(stacks_of_sizes.begin(), stacks_of_sizes.end(), size) != stacks_of_sizes.end();
  }
};

struct HeapSums {
  uint64_t moved = 0;  // bytes allocated and freed
  uint64_t peak = 0;   // the most live bytes
};

class HeapChanges {
 public:
  // The first pass, over all processes. Calls `step` for each event of both passes.
  HeapChanges(const Recording& recording, std::function<void()> step);

  const Allocations& allocations() const { return allocations_; }
  const WalkReport& walk() const { return walk_; }
  size_t busy_processes() const;  // that allocated
  // The one that allocated most among these (by index; empty: all); nothing if none did.
  std::optional<uint32_t> choose(const std::vector<bool>& among) const;

  // Sums of one process's changes: a separate pass.
  HeapSums sums(uint32_t process);
  // The second pass: the changes of one process. on_change(const HeapChange&) -> bool: false = stop.
  template <typename OnChange>
  void for_each(uint32_t process, OnChange&& on_change, const HeapPick& pick = {});

 private:
  struct Block {
    uint64_t size, begin;
    uint32_t stack;
    bool counts;
  };
  // The second pass's state.
  struct Pass {
    NumberMap<Block> live;     // by address
    NumberMap<uint64_t> last;  // by thread: the address it allocated last
  };
  // A block of the process that is live at the event; false if there is none.
  static bool take(Pass& pass, uint64_t address, HeapChange& change);
  void note_failed(const Event& event);
  bool will_fail(const Event& event, const BlockRecord& free) const;

  const Recording& recording_;
  std::function<void()> step_;
  Allocations allocations_;
  WalkReport walk_;
  // Frees by a realloc that failed: by thread, their times.
  struct LastRealloc {
    uint64_t time = 0, address = 0;
  };
  std::vector<LastRealloc> last_realloc_;  // by thread
  NumberMap<std::vector<uint64_t>> failed_;
};

template <typename OnChange>
void HeapChanges::for_each(uint32_t process, OnChange&& visit, const HeapPick& pick) {
  const auto on_change = [&](const HeapChange& change) {
    return change.begin < pick.begin || !change.counts || visit(change);
  };
  Pass pass;
  for_each_event(
      recording_, {.classes = kAllocEvents, .process = process, .all_threads = true}, [&](const Event& event) {
        step_();
        if (event.time >= pick.end) return false;
        HeapChange change;
        change.thread = event.thread;
        change.counts = takes_thread(recording_, event.thread);
        change.time = change.begin = event.time;
        const BlockRecord block = read_heap_block(event.record);
        change.is_free = block.action == BlockAction::kFreed;
        if (!change.is_free && block.action != BlockAction::kAllocated) return true;
        change.address = block.address;
        change.family = block.family;
        change.size = block.size;
        change.stack = block.stack;
        if (change.is_free) {
          change.freed_from = block.stack;
          if (will_fail(event, block) || !take(pass, change.address, change)) return true;
          const auto last = pass.last.find(event.thread);
          change.temporary = allocations_.knows_temporary() && change.family != PENNA_FAMILY_REALLOC &&
                             last != pass.last.end() && last->second == change.address;
          return static_cast<bool>(on_change(change));
        }
        // Live already: its free was not recorded.
        HeapChange missed = change;
        missed.is_free = true;
        if (take(pass, change.address, missed) && !on_change(missed)) return false;
        pass.live.insert_or_assign(change.address, Block{change.size, change.time, change.stack, change.counts});
        pass.last.insert_or_assign(event.thread, change.address);
        return static_cast<bool>(on_change(change));
      });
}

}  // namespace penna

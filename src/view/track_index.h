// SPDX-License-Identifier: MIT
// TrackIndex: what the index of a recording knows of one thread: trees of its calls, waits, holds and points, and their
// names; and the walk that makes it.
//
// Why names as they were recorded: what they are called depends on symbols, which may be there another time.
// Calls and points of whole chunks are not stored but read from the recording again, when a view is as fine: of most
// chunks the calls that are open where they begin are all that is needed for that. Not where stacks are changed, where
// what is left out depends on what came before (-F, -r), or where a chunk begins with a call's values.
// Invariant: the trees hold what make_tracks() would, with one difference: calls of several stacks of a thread are put
// into rows as they begin.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/names/code_map.h"
#include "model/timeline/timeline.h"
#include "view/counters.h"
#include "view/packed_numbers.h"
#include "view/span_tree.h"
#include "view/track_answers.h"
#include "view/tracks.h"

namespace penna {

// What a Span's name stands for: enough of its line to ask EventWords again.
struct TrackName {
  LineKind kind = LineKind::kLeave;
  uint64_t value = 0;  // pc, site, or address
  uint64_t time = 0;   // ticks of its first line
  penna_sync sync = PENNA_SYNC_MUTEX;
  uint32_t owner = 0;   // tid: of a join
  int32_t holder = -1;  // of a wait, as TrackWait::holder
  // Of all with this name.
  uint64_t count = 0;
  int64_t total = 0;  // ns
  Instance longest{0, -1, 0};
  TimelineLine line(uint32_t process) const;
  TrackWait::Kind wait_kind() const;
};

struct TrackIndex {
  enum Kind : uint8_t { kCalls, kWaits, kHolds, kPoints, kKinds };
  std::array<NodeRef, kKinds> roots{};
  std::array<uint64_t, kKinds> counts{};
  uint32_t rows = 0;
  uint64_t calls_left_out = 0;
  std::vector<TrackName> names;

  void write(NumberWriter& out) const;
  // Empty: not of a recording with so many threads.
  static std::optional<TrackIndex> read(NumberReader& in, size_t threads);
};

// What is the same for all threads; used by several at a time.
struct IndexingTask {
  const Recording& recording;
  uint64_t begin;                      // ticks of the first event
  const NumberMap<uint32_t>& threads;  // pair_key of process and tid -> index
  SpanTreeWriter::Store store;         // thread-safe
  const std::atomic<bool>& stop;       // early: the result is of no use
  std::atomic<uint64_t>& events;       // that were read so far
  size_t spans_of_leaf;                // of calls and points, or more
};
// Reads the thread. `counters`: of the one that works on it.
TrackIndex index_thread(const IndexingTask& task, uint32_t thread, const CodeMap& map, bool ahead, Counters* counters,
                        WalkReport* walk);

}  // namespace penna

// SPDX-License-Identifier: MIT
// TrackIndex: the part of a recording's index about one thread: trees of its calls, waits, holds and points, and their
// names; and the walk that builds it.
//
// Why names as they were recorded: their text depends on symbols, which may become available later.
// Calls and points of whole chunks are not stored but read from the recording again, if a view is that fine: for most
// chunks, only the calls open at their beginning are needed for that. Exceptions: stacks are switched, what is left out
// depends on earlier events (-F, -r), or a chunk begins with a call's values.
// Invariant: the trees hold what make_tracks() would, with one difference: calls on several stacks of a thread are
// assigned to rows as they begin.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/names/code_map.h"
#include "model/timeline/timeline.h"
#include "view/tracks/counters.h"
#include "view/tracks/packed_numbers.h"
#include "view/tracks/span_tree.h"
#include "view/tracks/track_answers.h"
#include "view/tracks/tracks.h"

namespace penna {

// What a Span's name refers to: enough of its line to ask EventWords again.
struct TrackName {
  LineKind kind = LineKind::kLeave;
  uint64_t value = 0;  // pc, site, or address
  uint64_t time = 0;   // ticks of its first line
  penna_sync sync = PENNA_SYNC_MUTEX;
  uint32_t owner = 0;   // tid: of a join
  int32_t holder = -1;  // of a wait, like TrackWait::holder
  // Over all spans with this name.
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

// Shared by all threads; used by several at a time.
struct IndexingTask {
  const Recording& recording;
  uint64_t begin;                      // ticks of the first event
  const NumberMap<uint32_t>& threads;  // pair_key of process and tid -> index
  SpanTreeWriter::Store store;         // thread-safe
  const std::atomic<bool>& stop;       // early; the result is then unused
  std::atomic<uint64_t>& events;       // read so far
  size_t spans_of_leaf;                // calls and points, at least
};
// Reads the thread. `counters`: those of the calling worker.
TrackIndex index_thread(const IndexingTask& task, uint32_t thread, const CodeMap& map, bool ahead, Counters* counters,
                        WalkReport* walk);

}  // namespace penna

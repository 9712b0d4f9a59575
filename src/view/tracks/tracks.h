// SPDX-License-Identifier: MIT
// Tracks: the content of the page's timeline, thread by thread: calls and spans, waits, holds, points.
//
// Why separate from Timeline: that is a walk; the page asks for any range at any zoom, again and again. Times are
// nanoseconds since the recording's first event.
// Invariant: the slices of a row are sorted and do not overlap: beginnings and ends are ascending. If slices of several
// stacks of a thread (coroutines) would overlap, the later one moves to the first row below that has room.
// Memory: 37 bytes a call, for at most kMostSlices; what is left out is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/events/events.h"
#include "model/names/names.h"
#include "view/tracks/name_ids.h"

namespace penna {

// One row. By column, because an answer reads few of them.
struct Slices {
  enum Flags : uint8_t { kBeginUnknown = 1, kEndUnknown = 2 };
  std::vector<int64_t> start, end;
  std::vector<int64_t> covered;  // by all slices before it; one more at the end: the total
  std::vector<uint32_t> name;    // NameIds
  std::vector<uint8_t> flags;
  size_t size() const { return start.size(); }
};

struct TrackWait {
  enum Kind : uint8_t { kLock, kCondition, kJoin, kOther };
  int64_t start = 0, end = 0;
  uint32_t name = 0;    // NameIds: what it waited for
  int32_t holder = -1;  // index of the thread; -1: unknown
  Kind kind = kLock;
};

struct TrackHold {
  int64_t start = 0, end = 0;
  uint32_t name = 0;
};

struct TrackPoint {
  int64_t time = 0;
  uint32_t name = 0, values = 0;  // NameIds; `values` as text, 0: not kept
};

struct Track {
  std::vector<Slices> rows;      // by depth
  std::vector<TrackWait> waits;  // this and the following are sorted by start
  std::vector<TrackHold> holds;
  std::vector<TrackPoint> points;
  uint64_t calls_left_out = 0;
};

// One for each thread of the recording. `names` must be the same recording's; `step`: called for each event. *walk:
// what could not be read.
constexpr uint64_t kMostSlices = 16'000'000;
constexpr uint32_t kMostDepth = 2000;  // deeper calls are not drawn
// Points whose values are kept as text; later ones are flags with a name.
constexpr size_t kMostTexts = 1'000'000;
std::vector<Track> make_tracks(const Recording& recording, const CodeMap& map, Names& names, NameIds& ids,
                               const std::function<void()>& step, WalkReport* walk, uint64_t most = kMostSlices);

// Sets `covered`, and moves overlapping slices into rows below.
void finish_rows(std::vector<Slices>& rows);

}  // namespace penna

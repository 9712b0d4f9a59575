// SPDX-License-Identifier: MIT
// See tracks.h.
#include "view/tracks/tracks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "export/text/event_words.h"
#include "view/tracks/track_words.h"

namespace penna {
namespace {

class TrackMaker {
 public:
  TrackMaker(const Recording& recording, const CodeMap& map, Names& names, NameIds& ids, uint64_t most)
      : words_(recording, map, names, ids), most_(most), tracks_(recording.threads().size()) {}

  void line(const TimelineLine& line) {
    switch (line.kind) {
      case LineKind::kLeave:
      case LineKind::kLeaf:
      case LineKind::kSpanEnd: slice(line); break;
      case LineKind::kLockWait:
      case LineKind::kOpenWait:
      case LineKind::kConditionWait:
      case LineKind::kBlocked: wait(line); break;
      case LineKind::kUnlock: hold(line); break;
      case LineKind::kPoint: point(line); break;
      default: break;
    }
  }
  std::vector<Track> take() {
    for (Track& track : tracks_) {
      finish_rows(track.rows);
      const auto by_start = [](const auto& one, const auto& other) { return one.start < other.start; };
      std::stable_sort(track.waits.begin(), track.waits.end(), by_start);
      std::stable_sort(track.holds.begin(), track.holds.end(), by_start);
    }
    return std::move(tracks_);
  }

 private:
  void slice(const TimelineLine& line) {
    Track& track = tracks_[line.thread];
    if (slices_ >= most_ || line.depth >= kMostDepth) {
      ++track.calls_left_out;
      return;
    }
    ++slices_;
    if (track.rows.size() <= line.depth) track.rows.resize(line.depth + 1);
    Slices& row = track.rows[line.depth];
    row.start.push_back(words_.begin_of(line));
    row.end.push_back(words_.end_of(line));
    row.name.push_back(words_.function(line));
    row.flags.push_back(TrackWords::flags(line));
  }
  void wait(const TimelineLine& line) { tracks_[line.thread].waits.push_back(words_.wait(line)); }
  // Without a length, its beginning is not known.
  void hold(const TimelineLine& line) {
    if (line.duration != 0) tracks_[line.thread].holds.push_back(words_.hold(line));
  }
  void point(const TimelineLine& line) { tracks_[line.thread].points.push_back(words_.point(line)); }

  TrackWords words_;
  const uint64_t most_;
  uint64_t slices_ = 0;
  std::vector<Track> tracks_;
};

void put(const Slices& from, size_t at, Slices* to) {
  to->start.push_back(from.start[at]);
  to->end.push_back(from.end[at]);
  to->name.push_back(from.name[at]);
  to->flags.push_back(from.flags[at]);
}

// Already in order, unless it contains calls of several stacks.
void sort_row(Slices& row) {
  if (std::is_sorted(row.start.begin(), row.start.end())) return;
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t one, size_t other) { return row.start[one] < row.start[other]; });
  Slices sorted;
  for (const size_t at : order) put(row, at, &sorted);
  row = std::move(sorted);
}

bool overlaps(const Slices& row) {
  for (size_t i = 1; i < row.size(); ++i)
    if (row.start[i] < row.end[i - 1]) return true;
  return false;
}

}  // namespace

void finish_rows(std::vector<Slices>& rows) {
  for (size_t depth = 0; depth < rows.size(); ++depth) {
    sort_row(rows[depth]);
    if (overlaps(rows[depth])) {
      if (depth + 1 == rows.size()) rows.emplace_back();
      const Slices all = std::exchange(rows[depth], {});
      for (size_t i = 0; i < all.size(); ++i) {
        const bool fits = rows[depth].size() == 0 || all.start[i] >= rows[depth].end.back();
        put(all, i, fits ? &rows[depth] : &rows[depth + 1]);
      }
    }
    Slices& row = rows[depth];
    row.covered.assign(1, 0);
    row.covered.reserve(row.size() + 1);
    for (size_t i = 0; i < row.size(); ++i) row.covered.push_back(row.covered.back() + row.end[i] - row.start[i]);
  }
}

std::vector<Track> make_tracks(const Recording& recording, const CodeMap& map, Names& names, NameIds& ids,
                               const std::function<void()>& step, WalkReport* walk, uint64_t most) {
  TrackMaker maker(recording, map, names, ids, most);
  (void)for_each_line_by_thread(recording, TimelineOptions{}, step, walk, [&](const TimelineLine& line) {
    maker.line(line);
    return true;
  });
  return maker.take();
}

}  // namespace penna

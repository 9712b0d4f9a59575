// SPDX-License-Identifier: MIT
// See tracks.h.
#include "view/tracks.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/hash.h"
#include "export/event_words.h"

namespace penna {
namespace {

class TrackMaker {
 public:
  TrackMaker(const Recording& recording, const CodeMap& map, Names& names, NameIds& ids, uint64_t most)
      : map_(map),
        words_(recording, names),
        ids_(ids),
        most_(most),
        tracks_(recording.threads().size()),
        functions_(recording.processes().size()) {
    for (uint32_t i = 0; i < recording.threads().size(); ++i)
      threads_[pair_key(recording.threads()[i].process, recording.threads()[i].tid)] = i;
  }

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
  int64_t begin_of(const TimelineLine& line) const { return words_.time_ns(line.begin); }
  int64_t end_of(const TimelineLine& line) const { return begin_of(line) + words_.duration_ns(line); }

  void slice(const TimelineLine& line) {
    Track& track = tracks_[line.thread];
    if (slices_ >= most_ || line.depth >= kMostDepth) {
      ++track.calls_left_out;
      return;
    }
    ++slices_;
    if (track.rows.size() <= line.depth) track.rows.resize(line.depth + 1);
    Slices& row = track.rows[line.depth];
    row.start.push_back(begin_of(line));
    row.end.push_back(end_of(line));
    row.name.push_back(function(line));
    row.flags.push_back(static_cast<uint8_t>((line.inherited ? Slices::kBeginUnknown : 0) |
                                             (line.end == CallEnd::kOpen ? Slices::kEndUnknown : 0)));
  }
  // A name is looked up once per function, not per call.
  uint32_t function(const TimelineLine& line) {
    if (line.kind == LineKind::kSpanEnd) return ids_.id(words_.name(line));
    if (map_.time_matters(line.process)) return ids_.id(words_.name(line));
    const auto [found, is_new] = functions_[line.process].try_emplace(line.pc, 0);
    if (is_new) found.value() = ids_.id(words_.name(line));
    return found->second;
  }
  void wait(const TimelineLine& line) {
    TrackWait one{begin_of(line), end_of(line), 0, -1, TrackWait::kOther};
    if (line.kind == LineKind::kBlocked) {
      one.name = ids_.id("penna: waited for room");
    } else {
      one.name = ids_.id(words_.name(line));
      one.kind = line.kind == LineKind::kConditionWait || line.sync == PENNA_SYNC_CONDITION ? TrackWait::kCondition
                 : line.sync == PENNA_SYNC_JOIN                                             ? TrackWait::kJoin
                 : is_lock(line.sync)                                                       ? TrackWait::kLock
                                                                                            : TrackWait::kOther;
      const auto holder = threads_.find(pair_key(line.process, line.owner));
      if (line.owner != 0 && holder != threads_.end()) one.holder = static_cast<int32_t>(holder->second);
    }
    tracks_[line.thread].waits.push_back(one);
  }
  // Without a length, its beginning is unknown.
  void hold(const TimelineLine& line) {
    if (line.duration != 0)
      tracks_[line.thread].holds.push_back({begin_of(line), end_of(line), ids_.id(words_.name(line))});
  }
  void point(const TimelineLine& line) {
    TrackPoint one{words_.time_ns(line.time), ids_.id(words_.name(line)), 0};
    if (texts_ < kMostTexts) {
      std::string values;
      words_.each_argument(line, [&](const std::string& name, const ArgumentValue&, const std::string& text) {
        values += (values.empty() ? "" : ", ") + name + " = " + text;
      });
      if (!values.empty()) ++texts_, one.values = ids_.id(values);
    }
    tracks_[line.thread].points.push_back(one);
  }

  const CodeMap& map_;
  EventWords words_;
  NameIds& ids_;
  const uint64_t most_;
  uint64_t slices_ = 0;
  size_t texts_ = 0;
  std::vector<Track> tracks_;
  std::vector<NumberMap<uint32_t>> functions_;  // by process, pc
  NumberMap<uint32_t> threads_;                 // pair_key of process and tid
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

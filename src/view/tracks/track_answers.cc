// SPDX-License-Identifier: MIT
// See track_answers.h.
#include "view/tracks/track_answers.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "view/tracks/answer_columns.h"

namespace penna {

uint32_t PixelView::pixel_of(int64_t time) const {
  const double pixel = static_cast<double>(time - t0) / ns_per_pixel();
  return static_cast<uint32_t>(std::clamp(pixel, 0.0, static_cast<double>(pixels - 1)));
}

namespace {

class SliceColumns {
 public:
  explicit SliceColumns(const PixelView& view) : view_(view) {}

  void add_row(const Slices& row, uint32_t depth) {
    // Ends are ascending like beginnings: finds the first that is still open when the view begins.
    size_t at = static_cast<size_t>(std::upper_bound(row.end.begin(), row.end.end(), view_.t0) - row.end.begin());
    // A short one that began before is in the sums of another view, unless it began before all of them.
    if (at < row.size() && row.start[at] < view_.t0 && view_.t0 > 0) {
      if (is_long(row, at)) add_slice(row, depth, at);
      ++at;
    }
    while (at < row.size() && row.start[at] < view_.t1) {
      const uint32_t pixel = view_.pixel_of(row.start[at]);
      const size_t next = begins_behind(row, at, pixel);
      // Among those that begin in one pixel, only the last can extend beyond it.
      const bool last_is_long = is_long(row, next - 1);
      if (const size_t shorts = next - at - (last_is_long ? 1 : 0); shorts != 0)
        made_.add_density(depth, pixel, row.covered[at + shorts] - row.covered[at], shorts,
                          most_time(row, at, at + shorts));
      if (last_is_long) add_slice(row, depth, next - 1);
      at = next;
    }
  }
  const SlicesMade& made() const { return made_; }

 private:
  bool is_long(const Slices& row, size_t at) const {
    return static_cast<double>(row.end[at] - row.start[at]) >= view_.ns_per_pixel();
  }
  // The first after `at` that begins in another pixel, or beyond the view.
  size_t begins_behind(const Slices& row, size_t at, uint32_t pixel) const {
    const int64_t end = pixel + 1 == view_.pixels ? view_.t1 : view_.begin_of(pixel + 1);
    const auto from = row.start.begin() + static_cast<ptrdiff_t>(at) + 1;
    return static_cast<size_t>(std::lower_bound(from, row.start.end(), end) - row.start.begin());
  }
  void add_slice(const Slices& row, uint32_t depth, size_t at) {
    made_.add_slice(row.start[at], row.end[at] - row.start[at], depth, row.name[at], row.flags[at]);
  }
  // The function that took most of it. 0 if there are too many to examine.
  static uint32_t most_time(const Slices& row, size_t from, size_t to) {
    constexpr size_t kMostLooks = 256;
    if (to - from > kMostLooks) return 0;
    std::map<uint32_t, int64_t> times;
    for (size_t i = from; i < to; ++i) times[row.name[i]] += row.end[i] - row.start[i];
    return std::max_element(times.begin(), times.end(),
                            [](const auto& one, const auto& other) { return one.second < other.second; })
        ->first;
  }

  const PixelView view_;
  SlicesMade made_;
};

// Waits and holds: those shorter than a pixel that fall into the same one are merged, with their count and the time
// from the first to the last.
template <typename Span, typename Same>
std::vector<std::pair<Span, uint32_t>> joined(const std::vector<Span>& all, const PixelView& view, Same&& same) {
  std::vector<std::pair<Span, uint32_t>> shown;
  std::map<std::pair<uint32_t, uint32_t>, size_t> shorts;  // pixel and name -> index into shown
  for (const Span& one : all) {
    if (one.start >= view.t1) break;
    if (one.end < view.t0) continue;
    const bool is_short = static_cast<double>(one.end - one.start) < view.ns_per_pixel();
    if (is_short) {
      const auto [found, is_new] = shorts.try_emplace({view.pixel_of(one.start), one.name}, shown.size());
      if (!is_new && same(shown[found->second].first, one)) {
        shown[found->second].first.end = std::max(shown[found->second].first.end, one.end);
        ++shown[found->second].second;
        continue;
      }
      found->second = shown.size();
    }
    shown.push_back({one, 1});
  }
  return shown;
}

}  // namespace

std::string slices_answer(const Track& track, const PixelView& view, uint32_t names) {
  SliceColumns columns(view);
  for (uint32_t depth = 0; depth < track.rows.size(); ++depth) columns.add_row(track.rows[depth], depth);
  return columns.made().text(static_cast<uint32_t>(track.rows.size()), view.pixels, track.calls_left_out, names);
}

std::string waits_answer(const Track& track, const PixelView& view, uint32_t names) {
  WaitColumns made;
  const auto same_wait = [](const TrackWait& one, const TrackWait& other) { return one.holder == other.holder; };
  for (const auto& [wait, waits] : joined(track.waits, view, same_wait)) made.add_wait(wait, waits);
  const auto same_hold = [](const TrackHold&, const TrackHold&) { return true; };
  for (const auto& [hold, holds] : joined(track.holds, view, same_hold)) made.add_hold(hold, holds);
  return made.text(names);
}

std::string points_answer(const Track& track, const PixelView& view, uint32_t names) {
  PointsMade made;
  std::optional<uint32_t> last_pixel;
  const auto by_time = [](const TrackPoint& one, int64_t limit) { return one.time < limit; };
  auto one = std::lower_bound(track.points.begin(), track.points.end(), view.t0, by_time);
  for (; one != track.points.end() && one->time < view.t1; ++one) {
    const uint32_t pixel = view.pixel_of(one->time);
    if (last_pixel == pixel)
      made.join(*one);
    else
      made.add(*one, 1);
    last_pixel = pixel;
  }
  return made.text(names);
}

bool is_better(const Instance& one, const Instance& other, const InstanceChoice& choice) {
  if (choice.after) return one.start < other.start;
  return choice.before ? one.start > other.start : one.duration > other.duration;
}

std::optional<Instance> find_instance(const Track& track, const InstanceChoice& choice) {
  std::optional<Instance> best;
  for (uint32_t depth = 0; depth < track.rows.size(); ++depth) {
    const Slices& row = track.rows[depth];
    for (size_t i = 0; i < row.size(); ++i) {
      if (row.name[i] != choice.name || (choice.after && row.start[i] <= *choice.after) ||
          (choice.before && row.start[i] >= *choice.before))
        continue;
      const Instance one{row.start[i], row.end[i] - row.start[i], depth};
      if (!best || is_better(one, *best, choice)) best = one;
    }
  }
  return best;
}

}  // namespace penna

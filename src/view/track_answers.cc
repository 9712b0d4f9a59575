// SPDX-License-Identifier: MIT
// See track_answers.h.
#include "view/track_answers.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "view/columns.h"

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
    // Ends rise as beginnings do: the first that is still there when the view begins.
    size_t at = static_cast<size_t>(std::upper_bound(row.end.begin(), row.end.end(), view_.t0) - row.end.begin());
    if (at < row.size() && row.start[at] < view_.t0 && is_long(row, at)) add_slice(row, depth, at++);
    while (at < row.size() && row.start[at] < view_.t1) {
      const uint32_t pixel = view_.pixel_of(row.start[at]);
      const size_t next = begins_behind(row, at, pixel);
      // Of those that begin in one pixel, only the last can reach out of it.
      const bool last_is_long = is_long(row, next - 1);
      if (const size_t shorts = next - at - (last_is_long ? 1 : 0); shorts != 0)
        add_density(row, depth, pixel, at, at + shorts);
      if (last_is_long) add_slice(row, depth, next - 1);
      at = next;
    }
  }
  std::string text(const Track& track, uint32_t names) {
    ColumnAnswer answer;
    answer.add("start", start_);
    answer.add("duration", duration_);
    answer.add("depth", depth_);
    answer.add("name", name_);
    answer.add("flags", flags_);
    answer.add("d_depth", d_depth_);
    answer.add("d_px", d_pixel_);
    answer.add("d_time", d_time_);
    answer.add("d_count", d_count_);
    answer.add("d_name", d_name_);
    return answer.text([&](JsonWriter& json) {
      json.field("names", names);
      json.field("left_out", track.calls_left_out);
      json.key("density");
      json.begin_object();
      json.field("depths", uint64_t{track.rows.size()});
      json.field("px", view_.pixels);
      json.end_object();
    });
  }

 private:
  bool is_long(const Slices& row, size_t at) const {
    return static_cast<double>(row.end[at] - row.start[at]) >= view_.ns_per_pixel();
  }
  // The first behind `at` that begins in another pixel, or behind the view.
  size_t begins_behind(const Slices& row, size_t at, uint32_t pixel) const {
    const int64_t end = pixel + 1 == view_.pixels ? view_.t1 : view_.begin_of(pixel + 1);
    const auto from = row.start.begin() + static_cast<ptrdiff_t>(at) + 1;
    return static_cast<size_t>(std::lower_bound(from, row.start.end(), end) - row.start.begin());
  }
  void add_slice(const Slices& row, uint32_t depth, size_t at) {
    start_.push_back(static_cast<double>(row.start[at]));
    duration_.push_back(static_cast<double>(row.end[at] - row.start[at]));
    depth_.push_back(depth);
    name_.push_back(row.name[at]);
    flags_.push_back(row.flags[at]);
  }
  void add_density(const Slices& row, uint32_t depth, uint32_t pixel, size_t from, size_t to) {
    d_depth_.push_back(depth);
    d_pixel_.push_back(pixel);
    d_time_.push_back(static_cast<double>(row.covered[to] - row.covered[from]));
    d_count_.push_back(static_cast<uint32_t>(to - from));
    d_name_.push_back(most_time(row, from, to));
  }
  // The function that took most of it. 0, where there are too many to look at each.
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
  std::vector<double> start_, duration_, d_time_;
  std::vector<uint32_t> depth_, name_, d_depth_, d_pixel_, d_count_, d_name_;
  std::vector<uint8_t> flags_;
};

// Waits and holds: those that are shorter than a pixel, and come in the same one, are one with their number and the
// time from the first to the last.
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
  return columns.text(track, names);
}

std::string waits_answer(const Track& track, const PixelView& view, uint32_t names) {
  std::vector<double> start, duration, h_start, h_duration;
  std::vector<uint32_t> lock, count, h_lock, h_count;
  std::vector<uint8_t> kind;
  std::vector<int32_t> holder;
  const auto same_wait = [](const TrackWait& one, const TrackWait& other) { return one.holder == other.holder; };
  for (const auto& [wait, waits] : joined(track.waits, view, same_wait)) {
    start.push_back(static_cast<double>(wait.start));
    duration.push_back(static_cast<double>(wait.end - wait.start));
    lock.push_back(wait.name);
    kind.push_back(wait.kind);
    holder.push_back(wait.holder);
    count.push_back(waits);
  }
  const auto same_hold = [](const TrackHold&, const TrackHold&) { return true; };
  for (const auto& [hold, holds] : joined(track.holds, view, same_hold)) {
    h_start.push_back(static_cast<double>(hold.start));
    h_duration.push_back(static_cast<double>(hold.end - hold.start));
    h_lock.push_back(hold.name);
    h_count.push_back(holds);
  }
  ColumnAnswer answer;
  answer.add("start", start);
  answer.add("duration", duration);
  answer.add("lock", lock);
  answer.add("kind", kind);
  answer.add("holder", holder);
  answer.add("count", count);
  answer.add("h_start", h_start);
  answer.add("h_duration", h_duration);
  answer.add("h_lock", h_lock);
  answer.add("h_count", h_count);
  return answer.text([&](JsonWriter& json) { json.field("names", names); });
}

std::string points_answer(const Track& track, const PixelView& view, uint32_t names) {
  std::vector<double> time;
  std::vector<uint32_t> name, count, text;
  uint32_t last_pixel = 0;
  const auto by_time = [](const TrackPoint& one, int64_t limit) { return one.time < limit; };
  auto one = std::lower_bound(track.points.begin(), track.points.end(), view.t0, by_time);
  for (; one != track.points.end() && one->time < view.t1; ++one) {
    const uint32_t pixel = view.pixel_of(one->time);
    if (!time.empty() && pixel == last_pixel) {
      ++count.back();
      text.back() = 0;
      if (name.back() != one->name) name.back() = 0;
      continue;
    }
    last_pixel = pixel;
    time.push_back(static_cast<double>(one->time));
    name.push_back(one->name);
    count.push_back(1);
    text.push_back(one->values);
  }
  ColumnAnswer answer;
  answer.add("time", time);
  answer.add("name", name);
  answer.add("count", count);
  answer.add("text", text);
  return answer.text([&](JsonWriter& json) { json.field("names", names); });
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

// SPDX-License-Identifier: MIT
// See indexed_tracks.h.
#include "view/tracks/indexed_tracks.h"

#include <algorithm>
#include <tuple>

#include "view/tracks/answer_columns.h"

namespace penna {
namespace {

constexpr int kMostPlaces = 64;  // places whose values are read, per answer

bool is_call(const TrackName& name) { return name.kind == LineKind::kLeave || name.kind == LineKind::kSpanEnd; }

}  // namespace

IndexedTracks::IndexedTracks(const Recording& recording, Names& names, NameIds& ids,
                             std::unique_ptr<const ViewIndex> index)
    : recording_(recording),
      names_(names),
      ids_(ids),
      words_(recording, names),
      index_(std::move(index)),
      nodes_([this](const NodeRef& ref, std::vector<uint8_t>* bytes) {
        return index_->file().read(ref.offset, ref.bytes, bytes);
      }),
      readings_(recording.threads().size()) {
  for (uint32_t i = 0; i < recording.threads().size(); ++i)
    threads_[pair_key(recording.threads()[i].process, recording.threads()[i].tid)] = i;
}

IndexedTracks::Reading& IndexedTracks::reading(uint32_t thread) {
  std::unique_ptr<Reading>& one = readings_[thread];
  if (!one)
    one.reset(new Reading{ChunkSpans(recording_, thread, words_.begin(), names_.map(), track(thread).names),
                          std::vector<uint32_t>(track(thread).names.size())});
  return *one;
}

uint32_t IndexedTracks::id(uint32_t thread, uint32_t number) {
  std::vector<uint32_t>& known = reading(thread).ids;
  if (number >= known.size()) return 0;  // in a damaged index
  if (known[number] == 0) {
    const TrackName& name = track(thread).names[number];
    known[number] =
        ids_.id(name.kind == LineKind::kBlocked ? "penna: waited for room"
                                                : words_.name(name.line(recording_.threads()[thread].process)));
  }
  return known[number];
}

SpanTree IndexedTracks::tree(uint32_t thread, TrackIndex::Kind kind) {
  ChunkSpans& chunks = reading(thread).chunks;
  const auto read = [this, thread, kind, &chunks](const SpanNode::Chunks& some, const SpanVisitor& visit) {
    const auto decode = [&](const SpanVisitor& each) {
      if (kind == TrackIndex::kCalls)
        chunks.calls(some, each);
      else if (kind == TrackIndex::kPoints)
        chunks.points(some, [&](const Span& span, const TimelineLine&) { each(span); });
      else
        chunks.locks(some, kind, threads_, each);
    };
    leaves_.visit({thread, kind, some.first}, decode, visit);
  };
  return {track(thread).roots[kind], &nodes_, read};
}

// The function that took most of it; 0 if others may have taken more.
uint32_t IndexedTracks::most_time(uint32_t thread, const SpanSum* from, const SpanSum* to) {
  std::map<uint32_t, int64_t> times;
  int64_t rest = 0;
  for (; from != to; ++from) {
    int64_t& sum = times[id(thread, from->name)];
    sum = add_times(sum, from->name_time);
    rest = add_times(rest, add_times(from->time, -from->name_time));
  }
  std::pair<uint32_t, int64_t> most{0, -1};
  int64_t second = 0;
  for (const auto& one : times) {
    second = std::max(second, std::min(one.second, most.second));
    if (one.second > most.second) most = one;
  }
  return most.second >= add_times(second, rest) ? most.first : 0;
}

void IndexedTracks::add_densities(uint32_t thread, const PixelView& view, std::vector<SpanSum> sums, SlicesMade* made) {
  const auto place = [&](const SpanSum& sum) { return std::tuple(sum.row, view.pixel_of(sum.first)); };
  std::sort(sums.begin(), sums.end(), [&](const SpanSum& a, const SpanSum& b) { return place(a) < place(b); });
  for (size_t from = 0, to = 0; from < sums.size(); from = to) {
    uint64_t count = 0;
    int64_t time = 0;
    for (; to < sums.size() && place(sums[to]) == place(sums[from]); ++to)
      count += sums[to].count, time = add_times(time, sums[to].time);
    made->add_density(sums[from].row, view.pixel_of(sums[from].first), time, count,
                      most_time(thread, sums.data() + from, sums.data() + to));
  }
}

std::string IndexedTracks::slices_answer(uint32_t thread, const PixelView& view) {
  ViewedSpans seen = look_at(tree(thread, TrackIndex::kCalls), view);
  SlicesMade made;
  for (const Span& span : seen.shown)
    made.add_slice(span.start, span.duration, span.row, id(thread, span.name), span.flags);
  add_densities(thread, view, std::move(seen.sums), &made);
  return made.text(rows(thread), view.pixels, track(thread).calls_left_out, ids_.size());
}

// Merges those of one row and pixel; sorted by beginning.
std::vector<SpanSum> IndexedTracks::by_pixel(const PixelView& view, std::vector<SpanSum> sums) const {
  const auto place = [&](const SpanSum& sum) { return std::tuple(view.pixel_of(sum.first), sum.row); };
  std::sort(sums.begin(), sums.end(), [&](const SpanSum& a, const SpanSum& b) { return place(a) < place(b); });
  std::vector<SpanSum> joined;
  for (const SpanSum& sum : sums) {
    if (!joined.empty() && place(joined.back()) == place(sum))
      joined.back().add(sum);
    else
      joined.push_back(sum);
  }
  return joined;
}

TrackWait IndexedTracks::wait(uint32_t thread, const Span& span) {
  TrackWait wait{span.start, span.end(), id(thread, span.row), -1, TrackWait::kOther};
  if (span.row < track(thread).names.size()) {
    const TrackName& name = track(thread).names[span.row];
    wait.holder = name.holder;
    wait.kind = name.wait_kind();
  }
  return wait;
}

std::string IndexedTracks::waits_answer(uint32_t thread, const PixelView& view) {
  WaitColumns made;
  for (const TrackIndex::Kind kind : {TrackIndex::kWaits, TrackIndex::kHolds}) {
    const ViewedSpans seen = look_at(tree(thread, kind), view);
    std::vector<std::pair<Span, uint64_t>> all;
    for (const Span& span : seen.shown) all.push_back({span, 1});
    for (const SpanSum& sum : by_pixel(view, seen.sums))
      all.push_back({{sum.first, add_times(sum.last_end, -sum.first), sum.row, 0, 0}, sum.count});
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& one, const auto& other) { return one.first.start < other.first.start; });
    for (const auto& [span, count] : all) {
      const TrackWait one = wait(thread, span);
      if (kind == TrackIndex::kWaits)
        made.add_wait(one, count);
      else
        made.add_hold({one.start, one.end, one.name}, count);
    }
  }
  return made.text(ids_.size());
}

// Values are not in the index: they are read from the chunks, for as many places as one answer may request.
std::map<int64_t, uint32_t> IndexedTracks::values_at(uint32_t thread, const std::set<int64_t>& times) {
  std::map<int64_t, uint32_t> values;
  SpanTree points = tree(thread, TrackIndex::kPoints);
  ChunkSpans& chunks = reading(thread).chunks;
  points.of_chunks = [&](const SpanNode::Chunks& some, const SpanVisitor&) {
    chunks.points(some, [&](const Span& span, const TimelineLine& line) {
      if (times.count(span.start) == 0 || texts_ >= kMostTexts) return;
      std::string text;
      words_.each_argument(line, [&](const std::string& name, const ArgumentValue&, const std::string& value) {
        text += (text.empty() ? "" : ", ") + name + " = " + value;
      });
      if (!text.empty()) ++texts_, values[span.start] = ids_.id(text);
    });
  };
  int looks = 0;
  for (const int64_t time : times)
    if (values.count(time) == 0 && looks++ < kMostPlaces) (void)look_at(points, {time, time + 1, 1});
  return values;
}

std::string IndexedTracks::points_answer(uint32_t thread, const PixelView& view) {
  const ViewedSpans seen = look_at(tree(thread, TrackIndex::kPoints), view);
  const std::vector<SpanSum> sums = by_pixel(view, seen.sums);
  struct Flag {
    TrackPoint point;
    uint64_t count;
  };
  std::vector<Flag> flags;
  uint32_t last_pixel = 0;
  for (const SpanSum& sum : sums) {
    const uint32_t pixel = view.pixel_of(sum.first), name = id(thread, sum.row);
    if (flags.empty() || pixel != last_pixel) {
      flags.push_back({{sum.first, name, 0}, sum.count});
    } else {
      Flag& flag = flags.back();
      flag.point.time = std::min(flag.point.time, sum.first);
      if (flag.point.name != name) flag.point.name = 0;
      flag.count += sum.count;
    }
    last_pixel = pixel;
  }
  std::set<int64_t> single;
  for (const Flag& flag : flags)
    if (flag.count == 1) single.insert(flag.point.time);
  const std::map<int64_t, uint32_t> values = values_at(thread, single);
  PointsMade made;
  for (Flag& flag : flags) {
    if (const auto found = values.find(flag.point.time); found != values.end()) flag.point.values = found->second;
    made.add(flag.point, flag.count);
  }
  return made.text(ids_.size());
}

std::optional<Instance> IndexedTracks::find(uint32_t thread, const InstanceChoice& choice) {
  const std::vector<TrackName>& names = track(thread).names;
  std::vector<uint32_t> numbers;
  std::optional<Instance> best;
  for (uint32_t i = 0; i < names.size(); ++i) {
    if (!is_call(names[i]) || id(thread, i) != choice.name) continue;
    numbers.push_back(i);
    if (names[i].longest.duration >= 0 && (!best || is_better(names[i].longest, *best, choice)))
      best = names[i].longest;
  }
  if ((!choice.before && !choice.after) || numbers.empty()) return best;
  const std::optional<Span> span = find_span(tree(thread, TrackIndex::kCalls), numbers, choice);
  if (!span) return {};
  return Instance{span->start, span->duration, span->row};
}

void IndexedTracks::each_name(const VisitName& visit) {
  for (uint32_t thread = 0; thread < index_->tracks().size(); ++thread)
    for (uint32_t i = 0; i < track(thread).names.size(); ++i) {
      const TrackName& name = track(thread).names[i];
      if (name.count == 0) continue;
      if (is_call(name))
        visit(Named::kFunction, id(thread, i), name.count, name.total);
      else if (name.kind == LineKind::kPoint)
        visit(Named::kPoint, id(thread, i), name.count, 0);
      else
        visit(Named::kLock, id(thread, i), name.kind == LineKind::kUnlock ? name.count : 0,
              name.kind == LineKind::kUnlock ? 0 : name.total);
    }
}

}  // namespace penna

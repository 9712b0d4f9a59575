// SPDX-License-Identifier: MIT
// See growing_tracks.h.
#include "view/tracks/growing_tracks.h"

#include <algorithm>
#include <utility>

namespace penna {
namespace {

constexpr int64_t kFirstLength = 5'000'000'000;  // ns: steps finer than those of a short run are useless
// A new reading of the clock changes times by less than this.
constexpr int64_t kClockStep = 100'000;

template <typename T>
void drop_front(std::vector<T>& all, size_t count) {
  all.erase(all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(count, all.size())));
}

}  // namespace

GrowingTracks::GrowingTracks(const Recording& recording, NameIds& ids, uint64_t most)
    : recording_(recording),
      ids_(ids),
      most_(most),
      counters_(kFirstLength, 1, [this](uint64_t ticks) { return words_ ? words_->time_ns(ticks) : 0; }),
      scale_(recording) {}

void GrowingTracks::use_names(Names& names) {
  words_.emplace(recording_, names.map(), names, ids_);
  scale_ = SampleScale(recording_);
}

GrowingTracks::Growing& GrowingTracks::met(uint32_t thread) {
  if (threads_.size() <= thread) threads_.resize(recording_.threads().size());
  return threads_[thread];
}

void GrowingTracks::add(uint32_t thread, std::span<const uint8_t> chunk, bool gap) {
  if (!words_) return;
  Growing& growing = met(thread);
  forget_open(growing);
  const uint32_t process = recording_.threads()[thread].process;
  if (gap || !growing.timeline) {
    growing.timeline = std::make_unique<Timeline>(recording_, process, thread, false);
    growing.wait.reset();
  }
  Event event;
  event.process = process;
  event.thread = thread;
  RecordCursor records(chunk);
  while (records.next(event.record)) {
    event.time = growing.last_time = std::max(growing.last_time, event.record.time);
    if (growing.first_time == 0) growing.first_time = event.time;
    if (const uint32_t kind = classify(event.record.kind); kind < PENNA_CLASS_COUNT) ++growing.events[kind];
    (void)growing.timeline->add(event, [&](const TimelineLine& one) { return line(growing, one), true; });
  }
}

void GrowingTracks::line(Growing& thread, const TimelineLine& line) {
  Track& track = thread.track;
  counters_.grow(words_->time_ns(line.time) + 1);
  // A thread that does something no longer waits.
  if (line.kind != LineKind::kThreadName && line.kind != LineKind::kLost) thread.wait.reset();
  switch (line.kind) {
    case LineKind::kLeave:
    case LineKind::kLeaf:
    case LineKind::kSpanEnd: slice(track, line); break;
    case LineKind::kLockRequest:
      thread.wait = line;
      thread.wait->record = nullptr;
      break;
    case LineKind::kLockWait:
    case LineKind::kOpenWait:
    case LineKind::kConditionWait:
    case LineKind::kBlocked:
      track.waits.push_back(words_->wait(line));
      counters_.count(Counters::kWaits, track.waits.back().start);
      break;
    case LineKind::kUnlock:
      if (line.duration != 0) track.holds.push_back(words_->hold(line));
      break;
    case LineKind::kPoint:
      track.points.push_back(words_->point(line));
      counters_.count(Counters::kPoints, track.points.back().time);
      ++kept_;
      break;
    case LineKind::kAllocation: counters_.count(Counters::kAllocations, words_->time_ns(line.time)); [[fallthrough]];
    case LineKind::kFree:
    case LineKind::kReallocFailed: live_.line(line, scale_); break;
    default: break;
  }
}

void GrowingTracks::slice(Track& track, const TimelineLine& line) {
  const int64_t start = words_->begin_of(line);
  counters_.count(Counters::kCalls, start);
  if (line.depth >= kMostDepth) return void(++track.calls_left_out);
  (void)put(track, line.depth, start, words_->end_of(line), words_->function(line), TrackWords::flags(line));
  ++kept_;
}

// Puts it into the first row from `depth` on that has room, and returns that row.
uint32_t GrowingTracks::put(Track& track, uint32_t depth, int64_t start, int64_t end, uint32_t name, uint8_t flags) {
  for (;; ++depth) {
    if (track.rows.size() <= depth) track.rows.resize(depth + 1);
    Slices& row = track.rows[depth];
    const int64_t free_from = row.size() == 0 ? INT64_MIN : row.end.back();
    if (start < free_from && free_from - start > kClockStep) continue;
    row.start.push_back(std::max(start, free_from));
    row.end.push_back(std::max(row.start.back(), end));
    row.name.push_back(name);
    row.flags.push_back(flags);
    if (row.covered.empty()) row.covered.push_back(0);
    row.covered.push_back(row.covered.back() + row.end.back() - row.start.back());
    return depth;
  }
}

void GrowingTracks::forget_open(Growing& thread) {
  for (const uint32_t depth : std::exchange(thread.open_rows, {})) {
    Slices& row = thread.track.rows[depth];
    row.start.pop_back();
    row.end.pop_back();
    row.covered.pop_back();
    row.name.pop_back();
    row.flags.pop_back();
  }
  if (std::exchange(thread.shows_wait, false)) thread.track.waits.pop_back();
}

void GrowingTracks::show_open(Growing& thread, uint64_t now_ticks) {
  if (!thread.timeline) return;
  const int64_t now = words_->time_ns(now_ticks);
  thread.timeline->for_each_open(kMostDepth, [&](TimelineLine open) {
    open.kind = LineKind::kLeave;
    open.end = CallEnd::kOpen;
    thread.open_rows.push_back(
        put(thread.track, open.depth, words_->begin_of(open), now, words_->function(open), TrackWords::flags(open)));
  });
  if (!thread.wait) return;
  TrackWait wait = words_->wait(*thread.wait);
  wait.end = std::max(wait.start, now);
  thread.track.waits.push_back(wait);
  thread.shows_wait = true;
}

void GrowingTracks::settle(uint64_t now_ticks) {
  threads_.resize(recording_.threads().size());
  if (!words_) return;
  counters_.grow(words_->time_ns(now_ticks) + 1);
  live_.changes([this](uint64_t ticks, uint64_t bytes) { counters_.on_live(0, ticks, bytes, 0); });
  counters_.finish();
  for (Growing& thread : threads_) forget_open(thread);
  if (kept_ > most_) drop_oldest();
  for (Growing& thread : threads_) show_open(thread, now_ticks);
}

// Drops a quarter of each row, so that this is rare. Sums of time are differences, so the remaining ones stay right.
void GrowingTracks::drop_oldest() {
  kept_ = 0;
  for (Growing& thread : threads_) {
    for (Slices& row : thread.track.rows) {
      const size_t dropped = row.size() / 4;
      thread.track.calls_left_out += dropped;
      drop_front(row.start, dropped);
      drop_front(row.end, dropped);
      drop_front(row.covered, dropped);
      drop_front(row.name, dropped);
      drop_front(row.flags, dropped);
      kept_ += row.size();
    }
    drop_front(thread.track.points, thread.track.points.size() / 4);
    drop_front(thread.track.waits, thread.track.waits.size() / 4);
    drop_front(thread.track.holds, thread.track.holds.size() / 4);
    kept_ += thread.track.points.size();
  }
}

void GrowingTracks::each_name(const VisitName& visit) {
  for (const Growing& thread : threads_) each_name_of(thread.track, visit);
}

}  // namespace penna

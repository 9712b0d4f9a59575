// SPDX-License-Identifier: MIT
// See time_map.h.
#include "recording/time_map.h"

#include <algorithm>
#include <cmath>

namespace penna {
namespace {

constexpr double kFarthest = 0x1p61;  // so that differences fit too

// base + (ticks - from) * rate, clamped to +- 2^61.
int64_t project(uint64_t ticks, uint64_t from, int64_t base, double rate) {
  double distance = ticks >= from ? static_cast<double>(ticks - from) : -static_cast<double>(from - ticks);
  double offset = std::floor(distance * rate);
  if (std::abs(offset) + std::abs(static_cast<double>(base)) >= kFarthest)
    return static_cast<int64_t>(offset < 0 ? -kFarthest : kFarthest);
  return base + static_cast<int64_t>(offset);
}

bool usable(const ClockTriplet& clock) {
  return clock.monotonic_ns < static_cast<uint64_t>(kFarthest) && clock.realtime_ns < static_cast<uint64_t>(kFarthest);
}

double rate_of(uint64_t ticks_from, uint64_t ticks_to, int64_t ns_from, int64_t ns_to) {
  return static_cast<double>(ns_to - ns_from) / static_cast<double>(ticks_to - ticks_from);
}

}  // namespace

TimeMap::TimeMap(std::span<const ClockTriplet> clocks, uint64_t ticks_per_second) {
  if (ticks_per_second != 0) rate_ = 1e9 / static_cast<double>(ticks_per_second);
  std::vector<ClockTriplet> sorted(clocks.begin(), clocks.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ClockTriplet& a, const ClockTriplet& b) { return a.ticks < b.ticks; });
  pieces_.clear();
  for (const ClockTriplet& clock : sorted) {
    auto monotonic = static_cast<int64_t>(clock.monotonic_ns);
    if (!usable(clock)) continue;
    if (!pieces_.empty() && (clock.ticks <= pieces_.back().ticks || monotonic < pieces_.back().monotonic)) continue;
    pieces_.push_back({clock.ticks, monotonic, static_cast<int64_t>(clock.realtime_ns), rate_, rate_});
  }
  if (pieces_.empty()) pieces_.push_back({0, 0, 0, rate_, rate_});
  for (size_t i = 0; i + 1 < pieces_.size(); ++i) {
    Piece& piece = pieces_[i];
    const Piece& next = pieces_[i + 1];
    piece.monotonic_rate = rate_of(piece.ticks, next.ticks, piece.monotonic, next.monotonic);
    piece.realtime_rate = rate_of(piece.ticks, next.ticks, piece.realtime, next.realtime);
  }
  if (size_t count = pieces_.size(); count > 1) {
    const Piece& first = pieces_.front();
    rate_ = rate_of(first.ticks, pieces_[count - 1].ticks, first.monotonic, pieces_[count - 1].monotonic);
    pieces_[count - 1].monotonic_rate = pieces_[count - 2].monotonic_rate;
    pieces_[count - 1].realtime_rate = pieces_[count - 1].monotonic_rate;  // a step of the wall clock is not a rate
  }
}

const TimeMap::Piece& TimeMap::piece(uint64_t ticks) const {
  auto next = std::upper_bound(pieces_.begin(), pieces_.end(), ticks,
                               [](uint64_t value, const Piece& piece) { return value < piece.ticks; });
  return next == pieces_.begin() ? pieces_.front() : *std::prev(next);
}

int64_t TimeMap::monotonic_ns(uint64_t ticks) const {
  const Piece& p = piece(ticks);
  int64_t value = project(ticks, p.ticks, p.monotonic, p.monotonic_rate);
  // Rounding must not carry a piece past the start of the next.
  const Piece* next = &p + 1;
  if (next != pieces_.data() + pieces_.size() && ticks >= p.ticks) value = std::min(value, next->monotonic);
  return value;
}

int64_t TimeMap::realtime_ns(uint64_t ticks) const {
  const Piece& p = piece(ticks);
  return project(ticks, p.ticks, p.realtime, ticks < p.ticks ? p.monotonic_rate : p.realtime_rate);
}

double TimeMap::ns_per_tick() const { return rate_; }

}  // namespace penna

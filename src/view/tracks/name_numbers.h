// SPDX-License-Identifier: MIT
// NameNumbers: numbers for what the lines of one thread are about, in order of first appearance.
//
// Invariant: two lines have the same number if EventWords would name them alike, whatever their times; a number is
// never reassigned. Memory: per distinct name, not per line.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "view/tracks/track_index.h"

namespace penna {

class NameNumbers {
 public:
  NameNumbers(const CodeMap& map, uint32_t process) : map_(map), time_matters_(map.time_matters(process)) {}
  // For existing names.
  NameNumbers(const CodeMap& map, uint32_t process, const std::vector<TrackName>& names) : NameNumbers(map, process) {
    for (const TrackName& one : names) (void)number(one.line(process), one.kind, one.holder);
  }

  // `kind`: kLeave for calls, kSpanEnd for spans, kConditionWait and kLockWait for waits, whichever line it is.
  // `holder`: of a wait; each has its own number.
  uint32_t number(const TimelineLine& line, LineKind kind, int32_t holder = -1) {
    const bool is_code = kind == LineKind::kLeave;
    if (is_code && !time_matters_) {
      const auto [found, is_new] = by_pc_.try_emplace(line.pc, static_cast<uint32_t>(names_.size()));
      if (is_new) add(line, kind, line.pc, holder);
      return found->second;
    }
    const bool is_site = kind == LineKind::kSpanEnd || kind == LineKind::kPoint;
    const uint64_t value = is_site ? line.site : is_code ? line.pc : line.address;
    CodePlace place;
    if (!is_site && time_matters_) place = map_.locate(line.process, value, line.time);
    const bool is_join = line.sync == PENNA_SYNC_JOIN;
    const Key key{kind, value, place.module, place.address, line.sync, is_join ? line.owner : 0, holder};
    const auto [found, is_new] = by_key_.try_emplace(key, static_cast<uint32_t>(names_.size()));
    if (is_new) add(line, kind, value, holder);
    return found->second;
  }
  TrackName& operator[](uint32_t number) { return names_[number]; }
  size_t size() const { return names_.size(); }
  std::vector<TrackName> take() { return std::move(names_); }

 private:
  using Key = std::tuple<LineKind, uint64_t, ModuleId, uint64_t, penna_sync, uint32_t, int32_t>;
  void add(const TimelineLine& line, LineKind kind, uint64_t value, int32_t holder) {
    names_.push_back({kind, value, line.time, line.sync, line.sync == PENNA_SYNC_JOIN ? line.owner : 0, holder});
  }

  const CodeMap& map_;
  const bool time_matters_;
  NumberMap<uint32_t> by_pc_;
  std::map<Key, uint32_t> by_key_;
  std::vector<TrackName> names_;
};

// Records that form waits and holds.
inline bool is_of_locks(const Event& event) {
  return class_bit(event.record.kind) == kLockEvents || event.record.kind == PENNA_KIND_BLOCKED;
}

// The page's span for a line that is a wait or a hold. `threads`: pair_key of process and tid -> index; `ns`: converts
// ticks.
template <typename Ns>
std::optional<std::pair<TrackIndex::Kind, Span>> span_of_locks(const TimelineLine& line,
                                                               const NumberMap<uint32_t>& threads, NameNumbers& names,
                                                               Ns&& ns) {
  TrackIndex::Kind what = TrackIndex::kWaits;
  uint32_t name = 0;
  switch (line.kind) {
    case LineKind::kBlocked: name = names.number(line, LineKind::kBlocked); break;
    case LineKind::kLockWait:
    case LineKind::kOpenWait:
    case LineKind::kConditionWait: {
      const bool is_condition = line.kind == LineKind::kConditionWait || line.sync == PENNA_SYNC_CONDITION;
      const auto holder = threads.find(pair_key(line.process, line.owner));
      const bool is_held = line.owner != 0 && holder != threads.end();
      name = names.number(line, is_condition ? LineKind::kConditionWait : LineKind::kLockWait,
                          is_held ? static_cast<int32_t>(holder->second) : -1);
      break;
    }
    case LineKind::kUnlock:
      if (line.duration == 0) return {};  // its beginning is unknown
      what = TrackIndex::kHolds;
      name = names.number(line, LineKind::kUnlock);
      break;
    default: return {};
  }
  const int64_t start = ns(line.begin);
  return std::pair(what, Span{start, ns(line.begin + line.duration) - start, name, 0, 0});
}

}  // namespace penna

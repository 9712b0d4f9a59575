// SPDX-License-Identifier: MIT
// See track_words.h.
#include "view/tracks/track_words.h"

#include <string>

namespace penna {

uint32_t TrackWords::function(const TimelineLine& line) {
  if (line.kind == LineKind::kSpanEnd || map_.time_matters(line.process)) return ids_.id(words_.name(line));
  if (functions_.size() <= line.process) functions_.resize(recording_.processes().size());
  const auto [found, is_new] = functions_[line.process].try_emplace(line.pc, 0);
  if (is_new) found.value() = ids_.id(words_.name(line));
  return found->second;
}

TrackWait TrackWords::wait(const TimelineLine& line) {
  TrackWait one{begin_of(line), end_of(line), 0, -1, TrackWait::kOther};
  if (line.kind == LineKind::kBlocked) {
    one.name = ids_.id("penna: waited for room");
    return one;
  }
  one.name = ids_.id(words_.name(line));
  one.kind = line.kind == LineKind::kConditionWait || line.sync == PENNA_SYNC_CONDITION ? TrackWait::kCondition
             : line.sync == PENNA_SYNC_JOIN                                             ? TrackWait::kJoin
             : is_lock(line.sync)                                                       ? TrackWait::kLock
                                                                                        : TrackWait::kOther;
  for (; threads_met_ < recording_.threads().size(); ++threads_met_) {
    const RecordedThread& thread = recording_.threads()[threads_met_];
    threads_[pair_key(thread.process, thread.tid)] = threads_met_;
  }
  const auto holder = threads_.find(pair_key(line.process, line.owner));
  if (line.owner != 0 && holder != threads_.end()) one.holder = static_cast<int32_t>(holder->second);
  return one;
}

TrackPoint TrackWords::point(const TimelineLine& line) {
  TrackPoint one{words_.time_ns(line.time), ids_.id(words_.name(line)), 0};
  if (texts_ >= kMostTexts) return one;
  std::string values;
  words_.each_argument(line, [&](const std::string& name, const ArgumentValue&, const std::string& text) {
    values += (values.empty() ? "" : ", ") + name + " = " + text;
  });
  if (!values.empty()) ++texts_, one.values = ids_.id(values);
  return one;
}

}  // namespace penna

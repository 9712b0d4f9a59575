// SPDX-License-Identifier: MIT
// See path_answer.h.
#include "view/answers/path_answer.h"

#include <algorithm>
#include <vector>

#include "model/locks/critical_path.h"
#include "view/tracks/columns.h"

namespace penna {

std::string path_answer(const Recording& recording, const Summary& all, uint32_t thread, uint64_t from, uint64_t to) {
  HolderTracker held(recording);
  WaitHistory history(held);
  for_each_event(recording, {.classes = kLockEvents, .all_threads = true}, [&](const Event& event) {
    const LockStep step = held.take(event);
    history(event, step);
  });
  history.finish(open_ends(recording, all));
  const ThreadSummary& known = all.threads[thread];
  // A thread that waited to the end has its last event before that wait.
  const uint64_t last = std::max(known.last_time, history.of(thread).empty() ? 0 : history.of(thread).back().end);
  const uint64_t begin = std::max(known.first_time, from), end = std::max(begin, std::min(last, to));
  std::vector<double> start, duration;
  std::vector<uint32_t> threads;
  std::vector<uint8_t> what;
  int64_t left_out = 0;
  const auto ns = [&](uint64_t ticks) { return recording.time().duration_ns(all.first_time, ticks); };
  critical_path(history, thread, begin, end, [&](const PathPart& part, uint64_t first, uint64_t behind) {
    if (start.size() >= kMostPathPieces) return void(left_out += ns(behind) - ns(first));
    start.push_back(static_cast<double>(ns(first)));
    duration.push_back(static_cast<double>(ns(behind) - ns(first)));
    threads.push_back(part.thread);
    what.push_back(static_cast<uint8_t>(part.what));
  });
  std::reverse(start.begin(), start.end());
  std::reverse(duration.begin(), duration.end());
  std::reverse(threads.begin(), threads.end());
  std::reverse(what.begin(), what.end());
  ColumnAnswer answer;
  answer.add("start", start);
  answer.add("duration", duration);
  answer.add("thread", threads);
  answer.add("what", what);
  return answer.text([&](JsonWriter& json) { json.field("left_out", left_out); });
}

}  // namespace penna

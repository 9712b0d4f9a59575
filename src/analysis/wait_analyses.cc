// SPDX-License-Identifier: MIT
// See wait_analyses.h.
#include "analysis/wait_analyses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest_name.h"
#include "filter/thread_choice.h"
#include "model/calls/slowest_span.h"

namespace penna {
namespace {

std::string near_span(const Recording& recording, const std::string& wanted) {
  NearestName nearest(wanted);
  const bool in_full = wanted.find(':') != std::string::npos;
  for (const RecordedProcess& process : recording.processes())
    for (const Site& site : process.sites)
      if (site.kind == PENNA_SITE_SPAN) nearest.see(in_full ? site.provider + ':' + site.name : site.name);
  return nearest.hint();
}

// By name or tid. If several threads have the name, none is chosen silently.
Result<uint32_t> find_thread(const Recording& recording, const std::string& wanted) {
  const ThreadChoice choice{{}, {wanted}};  // as everywhere: a name, a pattern of names, or a tid
  NearestName nearest(wanted);
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < recording.threads().size(); ++i) {
    const RecordedThread& thread = recording.threads()[i];
    nearest.see(thread.name);
    if (choice.means(thread.tid) || choice.means(thread.name)) found.push_back(i);
  }
  if (found.empty())
    return Error{
        fmt::format("no thread matches --thread '{}'{}: 'penna report threads' lists them", wanted, nearest.hint())};
  if (found.size() == 1) return found[0];
  constexpr size_t kMostListed = 8;
  std::vector<uint32_t> tids;
  for (size_t i = 0; i < found.size() && i < kMostListed; ++i) tids.push_back(recording.threads()[found[i]].tid);
  return Error{
      fmt::format("{} threads are '{}': choose one by its tid, as {}", found.size(), wanted, fmt::join(tids, ", "))};
}

}  // namespace

WaitAnalyses::WaitAnalyses(const HolderTracker& held, bool order, bool chains, bool history) : held_(held) {
  if (order) order_ = std::make_unique<LockOrder>(held_);
  if (chains) chains_ = std::make_unique<WaitChains>(held_);
  if (history) history_ = std::make_unique<WaitHistory>(held_);
}

void WaitAnalyses::finish(std::vector<uint64_t> ends) {
  ends_ = std::move(ends);
  if (order_) order_->finish();
  if (chains_) chains_->finish(ends_);
  if (history_) history_->finish(ends_);
  deadlocks_ = find_deadlocks(held_);
}

Result<CriticalPath> find_path(const Recording& recording, const Summary& summary, const WaitHistory& history,
                               const PathOptions& options) {
  if (!options.span.empty()) {
    const std::optional<SpanTime> span = slowest_span(recording, options.span);
    if (!span)
      return Error{fmt::format("no span '{}' has a beginning and an end{}: 'penna report points' lists them",
                               options.span, near_span(recording, options.span))};
    return critical_path(history, span->thread, span->begin, span->end);
  }
  const uint32_t thread = PENNA_TRY(find_thread(recording, options.thread));
  const CallRules* rules = call_rules(recording);
  const ThreadSummary& known = summary.threads[thread];
  const uint64_t begin = rules == nullptr ? known.first_time : std::max(known.first_time, rules->begin);
  // A thread that waited to the end has its last event before that wait.
  const uint64_t last = std::max(known.last_time, history.of(thread).empty() ? 0 : history.of(thread).back().end);
  const uint64_t end = rules == nullptr ? last : std::min(last, rules->end);
  if (begin >= end) return Error{fmt::format("thread '{}' did nothing in this time", options.thread)};
  return critical_path(history, thread, begin, end);
}

}  // namespace penna

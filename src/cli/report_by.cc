// SPDX-License-Identifier: MIT
// See report_by.h.
#include "cli/report_by.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace penna {
namespace {

constexpr Words kByTables = {"alloc", "leaks", "temp", "peak", "lifetimes"};

}  // namespace

bool is_one_of(const std::string& word, Words words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_by_stacks(const std::string& table) { return is_one_of(table, kByTables); }

void choose_passes(const ReportOptions& options, AnalysisChoice& choice) {
  choice.net_times = options.net;
  choice.unmatched_frees = options.unmatched;
  choice.wait_path = options.path.any();
  if (options.unmatched || options.path.any() || !options.by || options.which == "waits") return;
  if (options.which == "calls") {
    if (options.by == ReportBy::kThread) choice.call_groups = CallGroups::By::kThread;
    if (options.by == ReportBy::kModule) choice.call_groups = CallGroups::By::kModule;
    return;
  }
  switch (*options.by) {
    case ReportBy::kProcess: choice.context = AllocationContext::kProcess; return;
    case ReportBy::kThread: choice.context = AllocationContext::kThread; return;
    case ReportBy::kCall:
      choice.context = AllocationContext::kCall;
      choice.call_tree = true;
      choice.classes |= kCallEvents;
      return;
    case ReportBy::kKind: choice.context = AllocationContext::kKind; return;
    case ReportBy::kFreer: choice.blocks = BlockView::kFreers; return;
    default: return;
  }
}

std::optional<GroupBy> groups_of(const ReportOptions& options) {
  if (!options.by) return std::nullopt;
  switch (*options.by) {
    case ReportBy::kFunction: return GroupBy::kFunction;
    case ReportBy::kFile: return GroupBy::kFile;
    case ReportBy::kModule: return GroupBy::kModule;
    case ReportBy::kProcess: return GroupBy::kProcess;
    case ReportBy::kThread: return GroupBy::kThread;
    case ReportBy::kCall: return GroupBy::kCall;
    case ReportBy::kKind: return GroupBy::kKind;
    default: return std::nullopt;
  }
}

std::optional<WaitsBy> waits_by(std::optional<ReportBy> by) {
  if (!by) return std::nullopt;
  switch (*by) {
    case ReportBy::kFunction: return WaitsBy::kFunction;
    case ReportBy::kHolder: return WaitsBy::kHolder;
    case ReportBy::kLock: return WaitsBy::kLock;
    case ReportBy::kThread: return WaitsBy::kThread;
    case ReportBy::kProcess: return WaitsBy::kProcess;
    default: return std::nullopt;
  }
}

Result<> check_by(const ReportOptions& options) {
  if (!options.by) return ok();
  const bool stacks = is_by_stacks(options.which);
  if (!stacks && options.which != "calls" && options.which != "waits")
    return Error{fmt::format("--by is for the tables calls, waits, {}: name one of them", fmt::join(kByTables, ", "))};
  const ReportBy by = *options.by;
  if (options.which == "waits") {
    if (by == ReportBy::kThread && !options.lock.empty())
      return Error{"waits --by thread adds up all locks: it does not go with --lock"};
    if (by == ReportBy::kStack || waits_by(by)) return ok();
    return Error{"waits can be shown --by stack, function, holder, lock, thread or process"};
  }
  if (by == ReportBy::kHolder || by == ReportBy::kLock)
    return Error{
        fmt::format("--by {} is for waits, not for {}", by == ReportBy::kLock ? "lock" : "holder", options.which)};
  const bool possible = stacks ? by != ReportBy::kFreer || is_one_of(options.which, {"alloc", "lifetimes"})
                               : by == ReportBy::kFunction || by == ReportBy::kModule || by == ReportBy::kThread;
  if (possible) return ok();
  return Error{stacks ? fmt::format("--by freer is for alloc and lifetimes, not for {}", options.which)
                      : "calls can be shown --by function, module or thread"};
}

}  // namespace penna

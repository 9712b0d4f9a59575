// SPDX-License-Identifier: MIT
// See report_by.h.
#include "cli/report/report_by.h"

namespace penna {
namespace {

void group_calls(ReportBy by, AnalysisChoice& choice) {
  if (by == ReportBy::kThread) choice.call_groups = CallGroups::By::kThread;
  if (by == ReportBy::kModule) choice.call_groups = CallGroups::By::kModule;
}

// Only what a stack does not contain must be kept apart while events are read. Functions, files and modules are summed
// from stacks afterwards (groups_of).
void group_allocations(ReportBy by, AnalysisChoice& choice) {
  switch (by) {
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

}  // namespace

AnalysisChoice passes_of(const ReportOptions& options, const AnalysisChoice& needed) {
  AnalysisChoice choice = needed;
  choice.net_times = options.net;
  choice.unmatched_frees = options.unmatched;
  choice.wait_path = options.path.any();
  if (!options.by) return choice;
  // "function" and "thread" have another meaning for each kind of table.
  if (needed.classes == kCallEvents) group_calls(*options.by, choice);
  if (needed.classes == kAllocEvents) group_allocations(*options.by, choice);
  return choice;
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

}  // namespace penna

// SPDX-License-Identifier: MIT
// See report_table.h.
#include "cli/report/report_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cli/report/report_by.h"
#include "report/locks/deadlock_rows.h"
#include "report/locks/wait_reports.h"
#include "report/overview.h"

namespace penna {
namespace {

LockView view_of_locks(const Material& m) {
  return {m.analyses.lock_blocks.get(), m.options.lock.value_or(""), m.ascii, false, m.analyses.held_calls.get()};
}

WaitTexts wait_texts(const Material& m) {
  constexpr size_t kFrames = 5;  // if there are several stacks in a row
  return {m.analyses.relations->held(),
          m.names,
          m.analyses.locks.get(),
          m.analyses.lock_blocks.get(),
          m.options.frames.value_or(kFrames),
          m.summary.first_time};
}

// In any lock table, a hanging program is reported first.
Report with_deadlocks(Report report, const Material& m) {
  if (m.analyses.relations == nullptr) return report;
  std::vector<std::string> sentences = deadlock_sentences(m.analyses.relations->deadlocks(), wait_texts(m));
  if (!sentences.empty()) sentences.back() += " ('penna report chains' shows where.)";
  report.head.insert(report.head.begin(), sentences.begin(), sentences.end());
  return report;
}

constexpr ReportBy kByOfCalls[] = {ReportBy::kFunction, ReportBy::kModule, ReportBy::kThread};
constexpr ReportBy kByOfWaits[] = {ReportBy::kStack, ReportBy::kFunction, ReportBy::kHolder,
                                   ReportBy::kLock,  ReportBy::kThread,   ReportBy::kProcess};
// kFreer must be last: kByOfStacks is the list without it.
constexpr ReportBy kByAndFreer[] = {ReportBy::kStack,  ReportBy::kFunction, ReportBy::kFile,
                                    ReportBy::kModule, ReportBy::kProcess,  ReportBy::kThread,
                                    ReportBy::kCall,   ReportBy::kKind,     ReportBy::kFreer};
constexpr std::span<const ReportBy> kByOfStacks = std::span(kByAndFreer).first(std::size(kByAndFreer) - 1);

// In the order of --help, and of the data: calls, allocations, locks, points, the recording itself.
constexpr NamedReport kReports[] = {
    {"calls",
     {.classes = kCallEvents},
     kTakesNet,
     kByOfCalls,
     [](const Material& m) {
       if (m.analyses.call_groups)
         return calls_report(m.recording, *m.analyses.calls, *m.analyses.call_groups, m.names);
       return calls_report(m.recording, *m.analyses.calls, m.names);
     }},
    {"tree",
     {.classes = kCallEvents, .call_tree = true},
     kTakesNet,
     {},
     [](const Material& m) { return tree_report(m.recording, *m.analyses.tree, m.names); }},
    {"flame", {}, kTakesDrawing | kTakesAscii, {}, nullptr},
    {"alloc",
     {.classes = kAllocEvents},
     kTakesAllocations | kTakesUnmatched | kTakesWithin,
     kByAndFreer,
     [](const Material& m) {
       if (m.analyses.unmatched)
         return unmatched_report(m.recording, *m.analyses.allocations, *m.analyses.unmatched,
                                 examine(m.recording, m.summary, m.analyses, m.names), m.names);
       if (m.analyses.lifetimes)
         return freers_report(m.recording, *m.analyses.allocations, *m.analyses.lifetimes, m.names);
       return alloc_report(m.recording, *m.analyses.allocations, m.names, m.view);
     }},
    {"leaks",
     {.classes = kAllocEvents},
     kTakesAllocations | kTakesSuppressions,
     kByOfStacks,
     [](const Material& m) { return leaks_report(m.recording, *m.analyses.allocations, m.names, m.view); }},
    {"temp",
     {.classes = kAllocEvents},
     kTakesAllocations | kTakesWithin,
     kByOfStacks,
     [](const Material& m) { return temp_report(m.recording, *m.analyses.allocations, m.names, m.view); }},
    {"peak",
     {.classes = kAllocEvents},
     kTakesAllocations,
     kByOfStacks,
     [](const Material& m) { return peak_report(m.recording, *m.analyses.allocations, m.names, m.view); }},
    {"sizes",
     {.classes = kAllocEvents, .blocks = BlockView::kSizes},
     kTakesAllocations,
     {},
     [](const Material& m) { return sizes_report(m.recording, *m.analyses.allocations, *m.analyses.sizes); }},
    {"lifetimes",
     {.classes = kAllocEvents, .blocks = BlockView::kLifetimes},
     kTakesAllocations,
     kByAndFreer,
     [](const Material& m) {
       return lifetimes_report(m.recording, *m.analyses.allocations, *m.analyses.lifetimes, m.names, m.view,
                               m.options.by == ReportBy::kFreer);
     }},
    {"heap",
     {.classes = kAllocEvents, .blocks = BlockView::kHistory},
     kTakesAllocations | kTakesAscii,
     {},
     [](const Material& m) { return heap_report(m.recording, *m.analyses.allocations, *m.analyses.history, m.ascii); }},
    {"locks",
     {.classes = kLockEvents, .hangs = true, .held_calls = true},
     kTakesLock | kTakesMinWait | kTakesAscii,
     {},
     [](const Material& m) {
       return with_deadlocks(locks_report(m.recording, *m.analyses.locks, m.names, view_of_locks(m)), m);
     }},
    {"waits",
     {.classes = kLockEvents, .hangs = true},
     kTakesLock | kTakesMinWait,
     kByOfWaits,
     [](const Material& m) {
       const std::optional<WaitsBy> by = waits_by(m.options.by);
       return with_deadlocks(by ? waits_by_report(m.recording, *m.analyses.locks, m.names, *by, view_of_locks(m))
                                : waits_report(m.recording, *m.analyses.locks, m.names, view_of_locks(m)),
                             m);
     }},
    {"holds",
     {.classes = kLockEvents, .hangs = true},
     kTakesLock | kTakesMinHold,
     {},
     [](const Material& m) {
       return with_deadlocks(holds_report(m.recording, *m.analyses.locks, m.names, view_of_locks(m)), m);
     }},
    {"chains",
     {.classes = kLockEvents, .wait_chains = true},
     kTakesSpan,
     {},
     [](const Material& m) {
       if (m.path) return path_report(*m.path, wait_texts(m));
       const WaitAnalyses& waits = *m.analyses.relations;
       return chains_report(*waits.chains(), waits.deadlocks(), wait_texts(m), waits.ends());
     },
     ThreadUse::kCriticalPath},
    {"order",
     {.classes = kLockEvents, .lock_order = true},
     0,
     {},
     [](const Material& m) {
       const WaitAnalyses& waits = *m.analyses.relations;
       return order_report(*waits.order(), waits.deadlocks(), wait_texts(m), waits.ends());
     },
     ThreadUse::kRefuse},
    {"points",
     {.classes = kPointEvents},
     0,
     {},
     [](const Material& m) { return points_report(m.recording, *m.analyses.points, m.names); }},
    {"threads", {}, 0, {}, [](const Material& m) { return threads_report(m.recording, m.summary); }},
    {"health",
     {.classes = kEventClasses},
     0,
     {},
     [](const Material& m) {
       return health_report(m.recording, m.summary, examine(m.recording, m.summary, m.analyses, m.names));
     },
     ThreadUse::kRefuse,
     10,
     true},
};

Report build_overview(const Material& m) {
  Report report = overview_report(
      m.recording, m.summary,
      {m.analyses.calls.get(), m.analyses.allocations.get(), m.analyses.locks.get(), m.analyses.lock_blocks.get(),
       m.analyses.points.get(), m.view.suppressor, m.analyses.held_calls.get()},
      m.names);
  for (std::string& sentence : deadlock_sentences(m.analyses.relations->deadlocks(), wait_texts(m)))
    report.head.push_back(std::move(sentence));
  return report;
}
constexpr NamedReport kOverview = {"",
                                   {.classes = kEventClasses, .deadlocks = true, .held_calls = true},
                                   kTakesSuppressions,
                                   {},
                                   build_overview,
                                   ThreadUse::kChoose,
                                   6};

}  // namespace

bool NamedReport::has_by(ReportBy wanted) const { return std::find(by.begin(), by.end(), wanted) != by.end(); }

std::span<const NamedReport> named_reports() { return kReports; }

const NamedReport& find_report(std::string_view name) {
  for (const NamedReport& report : kReports)
    if (name == report.name) return report;
  return kOverview;
}

std::vector<std::string> report_names() {
  std::vector<std::string> names;
  for (const NamedReport& report : kReports) names.emplace_back(report.name);
  return names;
}

}  // namespace penna

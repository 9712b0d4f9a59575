// SPDX-License-Identifier: MIT
// See check_waits.h.
#include "cli/report/check_waits.h"

#include "report/locks/deadlock_rows.h"
#include "report/locks/wait_reports.h"

namespace penna {
namespace {

using Why = StuckThread::Why;

// Threads that wait forever. Not those that wait for a holder that still runs: it may release the lock.
uint64_t stuck_threads(const Deadlocks& found) {
  return found.count(Why::kInDeadlock) + found.count(Why::kBehind) + found.count(Why::kHolderEnded) +
         found.count(Why::kElsewhere);
}

Verdict none_allowed(const char* limit, uint64_t found) {
  Verdict verdict;
  verdict.limit = limit;
  verdict.found = found;
  return verdict;
}

}  // namespace

void add_wait_limit_options(OptionParser& parser, WaitLimits& limits) {
  parser.flag("--no-inversions", limits.no_inversions,
              "no lock order inversions: locks taken in conflicting orders, which can deadlock");
  parser.flag("--no-deadlock", limits.no_deadlock,
              "no threads left waiting for each other at the end, or for a lock that will never be released");
}

std::vector<Verdict> judge_waits(const WaitLimits& limits, const WaitAnalyses* waits) {
  std::vector<Verdict> verdicts;
  if (limits.no_inversions) verdicts.push_back(none_allowed("--no-inversions", waits->order()->possible_deadlocks()));
  if (limits.no_deadlock) verdicts.push_back(none_allowed("--no-deadlock", stuck_threads(waits->deadlocks())));
  return verdicts;
}

// The deadlock first: it has happened, and an inversion is only a risk.
std::vector<Table> tables_of_waits(const WaitLimits& limits, const WaitAnalyses& waits, const WaitTexts& texts) {
  std::vector<Table> tables;
  if (limits.no_deadlock && stuck_threads(waits.deadlocks()) != 0)
    tables.push_back(deadlock_table(waits.deadlocks(), texts, waits.ends()));
  if (limits.no_inversions && waits.order()->possible_deadlocks() != 0)
    tables.push_back(inversions_table(*waits.order(), texts));
  return tables;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// penna report waits and holds: where threads waited, where those stood who held the lock meanwhile, and who holds for
// long.
#include <fmt/format.h>

#include <algorithm>

#include "report/frames.h"
#include "report/locks/lock_findings.h"
#include "report/locks/lock_rows.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

const char* side_name(OtherSide side) {
  switch (side) {
    case OtherSide::kHeld: return "held";
    case OtherSide::kGaveBack: return "gave back";
    case OtherSide::kUnknown: return "unknown";
    case OtherSide::kNobody: return "nobody";
    case OtherSide::kWoke: return "woke";
    case OtherSide::kTimeout: return "timeout";
    case OtherSide::kBroken: return "interrupted";
  }
  return "";
}

std::string one_or_more(const std::string& thread, bool more) { return more ? thread + " and others" : thread; }

// What stands over the second stack of a row.
std::string other_title(const Locks& locks, const WaitPair& pair, const LockNames& name_of) {
  const LockStats& lock = locks.all()[pair.lock];
  const std::string thread = one_or_more(name_of.thread(pair.other_thread), pair.many_others);
  const bool known = pair.other_thread != kNoIndex;
  switch (pair.side) {
    case OtherSide::kHeld: return fmt::format("held by {}, taken in", thread);
    case OtherSide::kGaveBack:
      return fmt::format("held by {}, given back in (where it was taken is not known)", thread);
    case OtherSide::kNobody: return "held by nobody: it had been given back, the thread was not there yet";
    case OtherSide::kTimeout: return "until it timed out";
    case OtherSide::kBroken: return "until it was interrupted or cancelled";
    case OtherSide::kWoke:
      if (lock.kind == LockKind::kJoin) return known ? fmt::format("until {} ended", thread) : "until the thread ended";
      return fmt::format("woken by {}{}", thread, pair.other_stack != 0 ? ", in" : "");
    case OtherSide::kUnknown: break;
  }
  if (!has_holder(lock.kind))
    return pair.open != 0 ? "still waiting when the recording ended" : "who woke it is not known";
  return known ? fmt::format("held by {}, where it was taken is not known", thread) : "who held it is not known";
}

Table holds_table(const Recording& recording, const Locks& locks, const LockChoice& choice, Names& names,
                  const LockNames& name_of) {
  Table table;
  table.key = "holds";
  table.details_key = "stack";
  table.details_in_row = true;
  table.columns = {{"hold_ns", "HOLD", CellKind::kDuration},
                   {"holds", "HOLDS", CellKind::kCount},
                   {"p99_hold_ns", "P99", CellKind::kDuration},
                   {"max_hold_ns", "MAX", CellKind::kDuration},
                   {"still_held", "STILL HELD", CellKind::kCount, false, true},
                   {"waited_ns", "OTHERS WAITED", CellKind::kDuration},
                   {"pid", "PID", CellKind::kNumber, false, true},
                   {"thread", "THREAD", CellKind::kText, false, true},
                   {"stack_of", "STACK OF", CellKind::kText, false, true},
                   {"lock", "LOCK", CellKind::kText, true}};
  add_place_columns(table, "TAKEN IN");
  const std::vector<HoldGroup>& groups = locks.groups();
  std::vector<uint32_t> shown;
  for (uint32_t i = 0; i < groups.size(); ++i)
    if (groups[i].time.count() != 0 && choice.has(locks.all()[groups[i].lock])) shown.push_back(i);
  std::stable_sort(shown.begin(), shown.end(),
                   [&](uint32_t a, uint32_t b) { return groups[a].time.sum() > groups[b].time.sum(); });
  for (const uint32_t i : shown) {
    const HoldGroup& group = groups[i];
    std::vector<Cell> cells = {ticks_to_ns(recording, group.time.sum()),
                               number(group.time.count()),
                               lock_percentile(recording, group.time, 0.99),
                               lock_percentile(recording, group.time, 1),
                               number(group.open),
                               ticks_to_ns(recording, group.waited),
                               int64_t{recording.processes()[locks.all()[group.lock].process].process.pid},
                               std::string(),
                               std::string(group.stack == 0  ? ""
                                           : group.gave_back ? "gave back"
                                                             : "taken"),
                               std::string()};
    add_place_cells(cells);
    table.add(std::move(cells), i);
  }
  table.complete = [&locks, &names, name_of](TableRow& row) {
    const HoldGroup& group = locks.groups()[row.source];
    const LockStats& lock = locks.all()[group.lock];
    row.cells[7] = one_or_more(name_of.thread(group.thread), group.many_threads);
    row.cells[9] = name_of(lock);
    set_stack_of_wait(row, lock.process, group.stack, names);
    if (group.stack == 0)
      row.details = {{"(where is not recorded: nobody waited for it)", ""}};
    else if (group.gave_back)
      row.details.insert(row.details.begin(), {"(given back in; where it was taken is not known)", ""});
  };
  return table;
}

}  // namespace

Table waits_table(const Recording& recording, const Locks& locks, const LockChoice& choice, Names& names,
                  const LockNames& name_of, bool of_holders) {
  Table table;
  table.key = of_holders ? "waits" : "other_waits";
  if (!of_holders) table.title = "Waits for what nobody holds";
  table.details_key = "stack";
  table.other_key = "other_stack";
  table.details_in_row = true;
  table.columns = {{"wait_ns", "WAIT", CellKind::kDuration},
                   {"waits", "WAITS", CellKind::kCount},
                   {"max_wait_ns", "MAX", CellKind::kDuration},
                   {"still_waiting", "STILL WAITING", CellKind::kCount, false, true},
                   {"pid", "PID", CellKind::kNumber, false, true},
                   {"kind", "KIND", CellKind::kText, false, of_holders},
                   {"thread", "THREAD", CellKind::kText, false, true},
                   {"other", "OTHER", CellKind::kText, false, true},
                   {"other_thread", "OTHER THREAD", CellKind::kText, false, true},
                   {"other_function", "OTHER FUNCTION", CellKind::kText, false, true},
                   {"waker", "WAKER", CellKind::kText, false, true},
                   {"lock", of_holders ? "LOCK" : "WHAT", CellKind::kText, true}};
  add_place_columns(table, "WAITED IN");
  const std::vector<WaitPair>& pairs = locks.pairs();
  std::vector<uint32_t> shown;
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    const LockStats& lock = locks.all()[pairs[i].lock];
    if (has_holder(lock.kind) == of_holders && choice.has(lock)) shown.push_back(i);
  }
  std::stable_sort(shown.begin(), shown.end(), [&](uint32_t a, uint32_t b) { return pairs[a].time > pairs[b].time; });
  for (const uint32_t i : shown) {
    const LockStats& lock = locks.all()[pairs[i].lock];
    std::vector<Cell> cells = {ticks_to_ns(recording, pairs[i].time),
                               number(pairs[i].waits),
                               ticks_to_ns(recording, pairs[i].longest),
                               number(pairs[i].open),
                               int64_t{recording.processes()[lock.process].process.pid},
                               std::string(lock_kind_name(lock.kind))};
    cells.resize(12, std::string());
    add_place_cells(cells);
    table.add(std::move(cells), i);
  }
  table.complete = [&locks, &names, name_of](TableRow& row) {
    const WaitPair& pair = locks.pairs()[row.source];
    const LockStats& lock = locks.all()[pair.lock];
    row.cells[6] = one_or_more(name_of.thread(pair.thread), pair.many_threads);
    row.cells[7] = std::string(side_name(pair.side));
    row.cells[8] = name_of.thread(pair.other_thread);
    row.cells[9] = place_text(other_process(lock, pair), pair.other_stack, names);
    row.cells[10] = name_of.thread(pair.waker);
    row.cells[11] = name_of(lock);
    set_stack_of_wait(row, lock.process, pair.stack, names);
    row.other_title = other_title(locks, pair, name_of);
    if (pair.other_stack != 0) row.other_details = stack_of_wait(other_process(lock, pair), pair.other_stack, names);
  };
  return table;
}

Report waits_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view) {
  const LockNames name_of(recording, names, view.blocks);
  const LockChoice choice(locks, name_of, view.lock);
  Report report;
  report.head = choice.head(recording);
  Table waits = waits_table(recording, locks, choice, names, name_of, true);
  Table others = waits_table(recording, locks, choice, names, name_of, false);
  if (waits.rows.empty()) report.head.push_back("No lock was waited for.");
  report.add(std::move(waits));
  report.add(std::move(others));
  report.tail = lock_findings(recording, locks, name_of, choice.filter());
  return report;
}

Report holds_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view) {
  const LockNames name_of(recording, names, view.blocks);
  const LockChoice choice(locks, name_of, view.lock);
  Report report;
  report.head = choice.head(recording);
  Table table = holds_table(recording, locks, choice, names, name_of);
  if (const uint64_t out = choice.sum_of(&LockStats::short_holds); out != 0)
    report.head.push_back(
        fmt::format("{} left out as shorter than --min-hold", plural_text(static_cast<int64_t>(out), "hold")));
  if (table.rows.empty()) report.head.push_back("No hold of a lock was recorded from its beginning.");
  report.add(std::move(table));
  return report;
}

}  // namespace penna

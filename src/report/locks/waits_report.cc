// SPDX-License-Identifier: MIT
// penna report waits and holds: where threads waited, where the holders of the lock were meanwhile, and who holds for
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

// Column values in CSV and JSON: part of the format, so do not change them.
const char* side_name(OtherSide side) {
  switch (side) {
    case OtherSide::kHeld: return "held";
    case OtherSide::kReleased: return "released";
    case OtherSide::kUnknown: return "unknown";
    case OtherSide::kFree: return "nobody";
    case OtherSide::kWoke: return "woke";
    case OtherSide::kTimeout: return "timeout";
    case OtherSide::kInterrupted: return "interrupted";
  }
  return "";
}

std::string one_or_more(const std::string& thread, bool more) { return more ? thread + " and others" : thread; }

// The title of a row's second stack.
std::string other_title(const Locks& locks, const WaitPair& pair, const LockNames& name_of) {
  const LockStats& lock = locks.all()[pair.lock];
  const std::string thread = one_or_more(name_of.thread(pair.other_thread), pair.many_others);
  const bool known = pair.other_thread != kNoIndex;
  switch (pair.side) {
    case OtherSide::kHeld: return fmt::format("held by {}, taken in", thread);
    case OtherSide::kReleased: return fmt::format("held by {}, released in (where it was taken is not known)", thread);
    case OtherSide::kFree: return "not held: already released, the thread had not resumed yet";
    case OtherSide::kTimeout: return "until it timed out";
    case OtherSide::kInterrupted: return "until it was interrupted or cancelled";
    case OtherSide::kWoke:
      if (lock.kind == LockKind::kJoin) return known ? fmt::format("until {} ended", thread) : "until the thread ended";
      return fmt::format("woken by {}{}", thread, pair.other_stack != 0 ? ", in" : "");
    case OtherSide::kUnknown: break;
  }
  if (!has_holder(lock.kind)) return pair.open != 0 ? "still waiting when the recording ended" : "waker unknown";
  return known ? fmt::format("held by {}, where it was taken is not known", thread) : "who held it is not known";
}

// What rows of stacks are about. Copied into each row; the references point to what lives as long as the report, except
// `name_of`, which is cheap and kept by value.
struct StackItem : Placed {
  StackItem(const Recording& all, const Locks& its_locks, Names& its_names, const LockNames& text_of, uint32_t number)
      : recording(all), locks(its_locks), names(its_names), name_of(text_of), lock(locks.all()[number]) {}
  Cell pid() const { return int64_t{recording.processes()[lock.process].process.pid}; }

  const Recording& recording;
  const Locks& locks;
  Names& names;
  LockNames name_of;
  const LockStats& lock;
};

struct HoldItem : StackItem {
  HoldItem(const StackItem& common, const HoldGroup& holds) : StackItem(common), group(holds) {}
  const HoldGroup& group;
};

// This table and the next list all their columns, though some are the same: keys and titles of a table should be found
// in one place.
Columns<HoldItem> hold_columns() {
  Columns<HoldItem> columns = {
      {{"hold_ns", "HOLD", CellKind::kDuration},
       [](const HoldItem& item) { return ticks_to_ns(item.recording, item.group.time.sum()); }},
      {{"holds", "HOLDS", CellKind::kCount}, [](const HoldItem& item) { return item.group.time.count(); }},
      {{"p99_hold_ns", "P99", CellKind::kDuration},
       [](const HoldItem& item) { return lock_percentile(item.recording, item.group.time, 0.99); }},
      {{"max_hold_ns", "MAX", CellKind::kDuration},
       [](const HoldItem& item) { return lock_percentile(item.recording, item.group.time, 1); }},
      {{"still_held", "STILL HELD", CellKind::kCount, false, true},
       [](const HoldItem& item) { return item.group.open; }},
      {{"waited_ns", "OTHERS WAITED", CellKind::kDuration},
       [](const HoldItem& item) { return ticks_to_ns(item.recording, item.group.waited); }},
      {{"pid", "PID", CellKind::kNumber, false, true}, [](const HoldItem& item) { return item.pid(); }},
      {{"thread", "THREAD", CellKind::kText, false, true},
       [](const HoldItem& item) {
         return one_or_more(item.name_of.thread(item.group.thread), item.group.many_threads);
       },
       Fill::kWhenShown},
      {{"stack_of", "STACK OF", CellKind::kText, false, true},
       [](const HoldItem& item) {
         return Cell{std::string(item.group.stack == 0 ? "" : item.group.stack_is_release ? "released" : "taken")};
       }},
      {{"lock", "LOCK", CellKind::kText, true},
       [](const HoldItem& item) { return item.name_of(item.lock); },
       Fill::kWhenShown}};
  columns.add(place_columns("TAKEN IN"));
  return columns;
}

// For a hold that no thread waited for, no stack is recorded: that would cost a stack walk per acquisition.
void describe_hold(TableRow& row, HoldItem& item) {
  set_stack_of_wait(row, item, item.lock.process, item.group.stack, item.names);
  if (item.group.stack == 0)
    row.details = {{"(stack not recorded: no thread waited for it)", ""}};
  else if (item.group.stack_is_release)
    row.details.insert(row.details.begin(), {"(released in; where it was taken is not known)", ""});
}

Table holds_table(const Recording& recording, const Locks& locks, const LockChoice& choice, Names& names,
                  const LockNames& name_of) {
  // Groups without a hold that was seen from its beginning have no time.
  std::vector<const HoldGroup*> shown;
  for (const HoldGroup& group : locks.groups())
    if (group.time.count() != 0 && choice.has(locks.all()[group.lock])) shown.push_back(&group);
  std::stable_sort(shown.begin(), shown.end(),
                   [](const HoldGroup* a, const HoldGroup* b) { return a->time.sum() > b->time.sum(); });
  std::vector<HoldItem> items;
  items.reserve(shown.size());
  for (const HoldGroup* group : shown)
    items.emplace_back(StackItem(recording, locks, names, name_of, group->lock), *group);
  Table table;
  table.key = "holds";
  table.details_key = "stack";
  table.details_in_row = true;
  hold_columns().fill(table, std::move(items), describe_hold);
  return table;
}

struct WaitItem : StackItem {
  WaitItem(const StackItem& common, const WaitPair& waits) : StackItem(common), pair(waits) {}
  const WaitPair& pair;
};

Columns<WaitItem> pair_columns(bool of_holders) {
  Columns<WaitItem> columns = {
      {{"wait_ns", "WAIT", CellKind::kDuration},
       [](const WaitItem& item) { return ticks_to_ns(item.recording, item.pair.time); }},
      {{"waits", "WAITS", CellKind::kCount}, [](const WaitItem& item) { return item.pair.waits; }},
      {{"max_wait_ns", "MAX", CellKind::kDuration},
       [](const WaitItem& item) { return ticks_to_ns(item.recording, item.pair.longest); }},
      {{"still_waiting", "STILL WAITING", CellKind::kCount, false, true},
       [](const WaitItem& item) { return item.pair.open; }},
      {{"pid", "PID", CellKind::kNumber, false, true}, [](const WaitItem& item) { return item.pid(); }},
      {{"kind", "KIND", CellKind::kText, false, of_holders},
       [](const WaitItem& item) { return lock_kind_name(item.lock.kind); }},
      {{"thread", "THREAD", CellKind::kText, false, true},
       [](const WaitItem& item) { return one_or_more(item.name_of.thread(item.pair.thread), item.pair.many_threads); },
       Fill::kWhenShown},
      {{"other", "OTHER", CellKind::kText, false, true},
       [](const WaitItem& item) { return side_name(item.pair.side); },
       Fill::kWhenShown},
      {{"other_thread", "OTHER THREAD", CellKind::kText, false, true},
       [](const WaitItem& item) { return item.name_of.thread(item.pair.other_thread); },
       Fill::kWhenShown},
      {{"other_function", "OTHER FUNCTION", CellKind::kText, false, true},
       [](const WaitItem& item) {
         return place_text(other_process(item.lock, item.pair), item.pair.other_stack, item.names);
       },
       Fill::kWhenShown},
      {{"waker", "WAKER", CellKind::kText, false, true},
       [](const WaitItem& item) { return item.name_of.thread(item.pair.waker); },
       Fill::kWhenShown},
      {{"lock", of_holders ? "LOCK" : "WHAT", CellKind::kText, true},
       [](const WaitItem& item) { return item.name_of(item.lock); },
       Fill::kWhenShown}};
  columns.add(place_columns("WAITED IN"));
  return columns;
}

// Two stacks per row: where the thread waited, and where the other one took the lock or woke it.
void describe_wait(TableRow& row, WaitItem& item) {
  set_stack_of_wait(row, item, item.lock.process, item.pair.stack, item.names);
  row.other_title = other_title(item.locks, item.pair, item.name_of);
  if (item.pair.other_stack != 0)
    row.other_details = stack_of_wait(other_process(item.lock, item.pair), item.pair.other_stack, item.names);
}

}  // namespace

Table waits_table(const Recording& recording, const Locks& locks, const LockChoice& choice, Names& names,
                  const LockNames& name_of, bool of_holders) {
  std::vector<const WaitPair*> shown;
  for (const WaitPair& pair : locks.pairs()) {
    const LockStats& lock = locks.all()[pair.lock];
    if (has_holder(lock.kind) == of_holders && choice.has(lock)) shown.push_back(&pair);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const WaitPair* a, const WaitPair* b) { return a->time > b->time; });
  std::vector<WaitItem> items;
  items.reserve(shown.size());
  for (const WaitPair* pair : shown) items.emplace_back(StackItem(recording, locks, names, name_of, pair->lock), *pair);
  Table table;
  table.key = of_holders ? "waits" : "other_waits";
  if (!of_holders) table.title = "Waits for objects without a holder";
  table.details_key = "stack";
  table.other_key = "other_stack";
  table.details_in_row = true;
  pair_columns(of_holders).fill(table, std::move(items), describe_wait);
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

// Holds from before the recording are not timed: their beginning is unknown.
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

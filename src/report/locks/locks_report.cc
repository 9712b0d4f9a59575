// SPDX-License-Identifier: MIT
// penna report locks: what each lock costs, how long the waits for the worst one are, and what else was waited for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "report/columns.h"
#include "report/frames.h"
#include "report/locks/lock_findings.h"
#include "report/locks/lock_rows.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// What a row is about: a lock, or a condition variable with the statistics of its waits. Copied into each row; what it
// refers to lives as long as the report.
struct LockItem {
  const Recording& recording;
  const Locks& locks;
  LockNames name_of;
  const LockStats& lock;
  std::shared_ptr<const std::vector<MainHolder>> holders = nullptr;  // by lock
  const ConditionStats* condition = nullptr;

  Cell time(uint64_t ticks) const { return ticks_to_ns(recording, ticks); }
  Cell average(const Distribution& times) const {
    return times.count() == 0 ? Cell{} : time(static_cast<uint64_t>(times.average()));
  }
  Cell percentile(const Distribution& times, double share) const { return lock_percentile(recording, times, share); }
};

// "flush (flush.cc:31) 81 %".
Cell holder_of_lock(const LockItem& item) {
  const LockStats& lock = item.lock;
  const MainHolder& main = (*item.holders)[static_cast<size_t>(&lock - item.locks.all().data())];
  if (main.pair == nullptr || lock.wait.sum() == 0) return std::string();
  const double share = 100 * static_cast<double>(main.time) / static_cast<double>(lock.wait.sum());
  return fmt::format("{}, {}", other_side_text(item.locks, *main.pair, item.name_of),
                     percent_text(std::min(share, 100.0)));
}

Cell contended_percent(const LockItem& item) {
  if (item.lock.acquisitions == 0) return 0.0;
  return 100 * static_cast<double>(item.lock.contended) / static_cast<double>(item.lock.acquisitions);
}

Cell mutex_name(const LockItem& item) {
  return item.condition->lock == kNoIndex ? std::string() : item.name_of(item.locks.all()[item.condition->lock]);
}

// How long it was waited for. Columns not shown in text are in CSV and JSON anyway: their keys do not depend on the
// data.
Columns<LockItem> wait_columns(bool with_average, bool shows_open) {
  Columns<LockItem> columns = {
      {{"wait_ns", "WAIT", CellKind::kDuration}, [](const LockItem& item) { return item.time(item.lock.wait.sum()); }},
      {{"waits", "WAITS", CellKind::kCount}, [](const LockItem& item) { return item.lock.wait.count(); }}};
  if (with_average)
    columns.add({{minor({"avg_wait_ns", "AVG", CellKind::kDuration}),
                  [](const LockItem& item) { return item.average(item.lock.wait); }},
                 {minor({"p50_wait_ns", "P50", CellKind::kDuration}),
                  [](const LockItem& item) { return item.percentile(item.lock.wait, 0.5); }}});
  columns.add({{{"p99_wait_ns", "P99", CellKind::kDuration},
                [](const LockItem& item) { return item.percentile(item.lock.wait, 0.99); }},
               {{"max_wait_ns", "MAX", CellKind::kDuration},
                [](const LockItem& item) { return item.percentile(item.lock.wait, 1); }},
               {{"still_waiting", "STILL WAITING", CellKind::kCount, false, !shows_open},
                [](const LockItem& item) { return item.lock.open_waits; }}});
  return columns;
}

Column<LockItem> timeouts_column(bool shown) {
  return {{"timeouts", "TIMEOUTS", CellKind::kCount, false, !shown},
          [](const LockItem& item) { return item.lock.timeouts; }};
}

// Where it is: shown in text only if needed to distinguish locks.
Columns<LockItem> address_columns(const Locks& locks, const LockNames& name_of) {
  const bool is_ambiguous = std::any_of(locks.all().begin(), locks.all().end(),
                                        [&](const LockStats& lock) { return name_of.is_ambiguous(lock); });
  return {{{"pid", "PID", CellKind::kNumber, false, !are_of_many_processes(locks)},
           [](const LockItem& item) { return item.recording.processes()[item.lock.process].process.pid; }},
          {{"address", "ADDRESS", CellKind::kAddress, false, !is_ambiguous},
           [](const LockItem& item) { return static_cast<int64_t>(item.lock.address); }}};
}

Column<LockItem> name_column(std::string_view key, std::string_view title) {
  return {{key, title, CellKind::kText, true},
          [](const LockItem& item) { return item.name_of(item.lock); },
          Fill::kWhenShown};
}

// Who used it, and what it is.
Columns<LockItem> lock_columns(const Locks& locks, const LockNames& name_of, std::string_view title) {
  Columns<LockItem> columns = {
      {minor({"threads", "THREADS", CellKind::kCount}), [](const LockItem& item) { return item.lock.threads.size(); }}};
  columns.add(address_columns(locks, name_of));
  columns.add({{{"kind", "KIND", CellKind::kText}, [](const LockItem& item) { return lock_kind_name(item.lock.kind); }},
               name_column("lock", title)});
  return columns;
}

Columns<LockItem> use_columns() {
  return {
      {{"hold_ns", "HOLD", CellKind::kDuration}, [](const LockItem& item) { return item.time(item.lock.hold.sum()); }},
      {minor({"avg_hold_ns", "AVG HOLD", CellKind::kDuration}),
       [](const LockItem& item) { return item.average(item.lock.hold); }},
      {minor({"p99_hold_ns", "P99 HOLD", CellKind::kDuration}),
       [](const LockItem& item) { return item.percentile(item.lock.hold, 0.99); }},
      {{"max_hold_ns", "MAX HOLD", CellKind::kDuration},
       [](const LockItem& item) { return item.percentile(item.lock.hold, 1); }},
      {{"taken", "TAKEN", CellKind::kCount}, [](const LockItem& item) { return item.lock.acquisitions; }},
      {{"contended", "CONTENDED", CellKind::kCount, false, true},
       [](const LockItem& item) { return item.lock.contended; }},
      {{"contended_percent", "WAITED", CellKind::kPercent}, contended_percent},
      {{"shared", "SHARED", CellKind::kCount, false, true}, [](const LockItem& item) { return item.lock.shared; }},
      {{"busy", "BUSY", CellKind::kCount, false, true}, [](const LockItem& item) { return item.lock.busy; }},
      timeouts_column(false),
      {{"errors", "ERRORS", CellKind::kCount, false, true}, [](const LockItem& item) { return item.lock.errors; }},
      {{"owner_died", "OWNER DIED", CellKind::kCount, false, true},
       [](const LockItem& item) { return item.lock.owner_died; }},
      {minor({"nesting", "NEST", CellKind::kCount}), [](const LockItem& item) { return item.lock.deepest; }}};
}

// Sorted by time waited, like by_wait().
Table locks_table(const Recording& recording, const Locks& locks, const LockChoice& choice, const LockNames& name_of) {
  // Computed once for all rows, and shared by them.
  const auto holders = std::make_shared<const std::vector<MainHolder>>(main_holders(locks));
  std::vector<LockItem> items;
  for (const LockStats* lock : locks.by_wait())
    if (has_holder(lock->kind) && choice.has(*lock)) items.push_back({recording, locks, name_of, *lock, holders});
  Columns<LockItem> columns = wait_columns(true, false);
  columns.add(use_columns());
  columns.add(lock_columns(locks, name_of, "LOCK"));
  columns.add({{usual({"holder", "HELD MEANWHILE BY", CellKind::kText, true}), holder_of_lock, Fill::kWhenShown}});
  Table table;
  table.key = "locks";
  columns.fill(table, std::move(items));
  return table;
}

// Semaphores, barriers, joined threads, futexes: objects without holder.
Table others_table(const Recording& recording, const Locks& locks, const LockChoice& choice, const LockNames& name_of) {
  std::vector<LockItem> items;
  for (const LockStats* lock : locks.by_wait())
    if (!has_holder(lock->kind) && lock->kind != LockKind::kCondition && choice.has(*lock))
      items.push_back({recording, locks, name_of, *lock});
  Columns<LockItem> columns = wait_columns(true, false);
  columns.add(
      {{{"taken", "TAKEN", CellKind::kCount, false, true}, [](const LockItem& item) { return item.lock.acquisitions; }},
       {{"given", "GIVEN", CellKind::kCount, false, true}, [](const LockItem& item) { return item.lock.given; }},
       timeouts_column(true)});
  columns.add(lock_columns(locks, name_of, "WHAT"));
  Table table;
  table.key = "others";
  table.title = "What else was waited for";
  columns.fill(table, std::move(items));
  return table;
}

Columns<LockItem> condition_columns() {
  return {
      {{"spurious", "SPURIOUS", CellKind::kCount, false, true},
       [](const LockItem& item) { return item.condition->spurious; }},
      {{"signals", "SIGNALS", CellKind::kCount}, [](const LockItem& item) { return item.condition->signals; }},
      {{"broadcasts", "BROADCASTS", CellKind::kCount}, [](const LockItem& item) { return item.condition->broadcasts; }},
      {{"unheard", "UNHEARD", CellKind::kCount}, [](const LockItem& item) { return item.condition->unheard; }},
      {{"herds", "HERDS", CellKind::kCount, false, true}, [](const LockItem& item) { return item.condition->herds; }}};
}

// Conditions have their own order: the time of a wait includes taking the mutex again.
Table conditions_table(const Recording& recording, const Locks& locks, const LockChoice& choice,
                       const LockNames& name_of) {
  std::vector<const ConditionStats*> shown;
  const auto lock_of = [&](const ConditionStats* one) -> const LockStats& { return locks.all()[one->index]; };
  for (const ConditionStats& one : locks.conditions())
    if (choice.has(lock_of(&one)) && lock_of(&one).seen) shown.push_back(&one);
  std::stable_sort(shown.begin(), shown.end(), [&](const ConditionStats* a, const ConditionStats* b) {
    return lock_of(a).wait.sum() > lock_of(b).wait.sum();
  });
  std::vector<LockItem> items;
  items.reserve(shown.size());
  for (const ConditionStats* one : shown) items.push_back({recording, locks, name_of, lock_of(one), nullptr, one});
  Columns<LockItem> columns = wait_columns(false, true);
  columns.add(timeouts_column(true));
  columns.add(condition_columns());
  columns.add(address_columns(locks, name_of));
  columns.add({{usual({"mutex", "MUTEX", CellKind::kText, true}), mutex_name, Fill::kWhenShown},
               name_column("condition", "CONDITION")});
  Table table;
  table.key = "conditions";
  table.title =
      "Condition variables (time until signalled and locked again; if others held the mutex meanwhile, that is a wait "
      "for the mutex)";
  columns.fill(table, std::move(items));
  return table;
}

// 1, 2, 5, 10, 20, 50, ...: the largest not above `ns`. Ends before the next step would overflow.
int64_t step_below(int64_t ns) {
  int64_t step = 1;
  for (int i = 0;; ++i) {
    int64_t next;
    if (__builtin_mul_overflow(step / (i % 3 == 1 ? 2 : 1), i % 3 == 1 ? 5 : 2, &next)) return step;
    if (next > ns) return step;
    step = next;
  }
}

// Waits of a length from `from` nanoseconds to below the next step.
struct WaitStep {
  int64_t from;
  uint64_t waits;
  uint64_t all = 0, most = 0;  // waits of all steps, and of the one with the longest bar
  bool ascii = true;
};

// The distribution's buckets come in rising order, so those of one step are adjacent.
std::vector<WaitStep> wait_steps(const Recording& recording, const LockStats& lock, bool ascii) {
  std::vector<WaitStep> steps;
  uint64_t most = 1;
  lock.wait.for_each([&](uint64_t ticks, uint64_t count) {
    const int64_t from = step_below(ticks_to_ns(recording, ticks));
    if (steps.empty() || steps.back().from != from) steps.push_back({from, 0});
    most = std::max(most, steps.back().waits += count);
  });
  for (WaitStep& step : steps) step = {step.from, step.waits, lock.wait.count(), most, ascii};
  return steps;
}

Cell bar_of_waits(const WaitStep& step) {
  constexpr size_t kBar = 40;
  // Rounded up: one wait among a million is still visible.
  const auto width = static_cast<size_t>(
      std::ceil(static_cast<double>(kBar) * static_cast<double>(step.waits) / static_cast<double>(step.most)));
  std::string bar;
  for (size_t i = 0; i < width; ++i) bar += step.ascii ? "#" : "█";
  return bar;
}

// How long the waits for one lock are. `lock`: may be null.
Table histogram_table(const Recording& recording, const LockStats* lock, const LockNames& name_of, bool ascii) {
  const Columns<WaitStep> columns = {
      {{"from_ns", "FROM", CellKind::kDuration}, [](const WaitStep& step) { return step.from; }},
      {{"waits", "WAITS", CellKind::kCount}, [](const WaitStep& step) { return step.waits; }},
      {{"percent", "SHARE", CellKind::kPercent},
       [](const WaitStep& step) { return 100 * (static_cast<double>(step.waits) / static_cast<double>(step.all)); }},
      {{"", "", CellKind::kText, false, false, true}, bar_of_waits}};
  Table table;
  table.key = "histogram";
  if (lock != nullptr) table.title = "Waits for " + name_of.in_sentence(*lock) + " by length";
  columns.fill(table, lock == nullptr ? std::vector<WaitStep>() : wait_steps(recording, *lock, ascii));
  return table;
}

// What was done while a lock was held, by function.
struct HeldItem {
  const Recording& recording;
  Names& names;
  const HeldCalls& held;
  HeldCalls::Sum sum;
  uint64_t all = 0;  // ticks
};

std::string held_function(const HeldItem& item) {
  return item.sum.function == kNoFunction ? "(no recorded call)"
                                          : item.names.function_name(item.held.place(item.sum.function));
}
double held_percent(const HeldItem& item) {
  return 100 * static_cast<double>(item.sum.time) / static_cast<double>(std::max<uint64_t>(item.all, 1));
}

// For a lock (may be null), most time first; empty if no call was recorded in any of its holds.
std::vector<HeldItem> held_items(const Recording& recording, Names& names, const HeldCalls* held,
                                 const LockChoice& choice, const LockStats* lock) {
  std::vector<HeldItem> items;
  if (held == nullptr || lock == nullptr) return items;
  const std::vector<HeldCalls::Sum> sums = held->of(choice.index(*lock));
  uint64_t all = 0;
  for (const HeldCalls::Sum& sum : sums) all += sum.time;
  if (std::all_of(sums.begin(), sums.end(), [](const HeldCalls::Sum& sum) { return sum.function == kNoFunction; }))
    return items;
  for (const HeldCalls::Sum& sum : sums) items.push_back({recording, names, *held, sum, all});
  return items;
}

Table held_table(std::vector<HeldItem> items, const LockStats* lock, const LockNames& name_of) {
  const Columns<HeldItem> columns = {
      {{"self_ns", "TIME", CellKind::kDuration},
       [](const HeldItem& item) { return ticks_to_ns(item.recording, item.sum.time); }},
      {{"percent", "SHARE", CellKind::kPercent}, [](const HeldItem& item) { return held_percent(item); }},
      {{"function", "FUNCTION", CellKind::kText, true},
       [](const HeldItem& item) { return held_function(item); },
       Fill::kWhenShown}};
  Table table;
  table.key = "held";
  if (lock != nullptr)
    table.title = "While " + name_of.in_sentence(*lock) + " was held, by function (without what it called)";
  columns.fill(table, std::move(items));
  return table;
}

// "While holding queue.mutex: flush 82 %, format 12 %.": the functions with most of the time, as far as significant.
std::string held_sentence(const std::vector<HeldItem>& items, const std::string& lock) {
  constexpr size_t kMost = 3;
  constexpr double kLeast = 1;  // percent
  std::string text;
  for (size_t i = 0; i < std::min(items.size(), kMost); ++i)
    if (const double share = held_percent(items[i]); i == 0 || share >= kLeast)
      text += fmt::format("{} {} {}", i == 0 ? "" : ",", held_function(items[i]), percent_text(share));
  return fmt::format("While holding {}:{}.", lock, text);
}

}  // namespace

// Linear in the threads of a process: only for rows that are shown.
std::string thread_label(const Recording& recording, uint32_t process, uint32_t tid) {
  for (uint32_t index : recording.processes()[process].threads) {
    const RecordedThread& thread = recording.threads()[index];
    if (thread.tid == tid && !thread.name.empty()) return fmt::format("{} (tid {})", thread.name, tid);
  }
  return fmt::format("tid {}", tid);
}

// `view.with_stacks`: pairs of stacks replace the histogram.
Report locks_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view) {
  const LockNames name_of(recording, names, view.blocks);
  const LockChoice choice(locks, name_of, view.lock);
  Report report;
  report.head = choice.head(recording);
  const LockStats* worst = choice.worst();
  std::vector<HeldItem> held = held_items(recording, names, view.held, choice, worst);
  if (!held.empty()) {
    const std::string sentence = held_sentence(held, name_of.in_sentence(*worst));
    // An overview shows only the first sentence.
    view.with_stacks ? void(report.head[0] += " " + sentence)
                     : void(report.head.insert(report.head.begin() + 1, sentence));
  }
  Table second;
  if (view.with_stacks) {
    second = waits_table(recording, locks, choice, names, name_of, true);
    second.title = "Waits by stack";
  } else {
    second = histogram_table(recording, worst, name_of, view.ascii);
  }
  report.add(locks_table(recording, locks, choice, name_of));
  report.add(std::move(second));
  if (!view.with_stacks) report.add(held_table(std::move(held), worst, name_of));
  report.add(others_table(recording, locks, choice, name_of));
  report.add(conditions_table(recording, locks, choice, name_of));
  report.tail = lock_findings(recording, locks, name_of, choice.filter());
  return report;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// penna report order: locks taken in contradicting orders, with the stacks of both orders.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/events/sampling.h"
#include "report/columns.h"
#include "report/frames.h"
#include "report/locks/deadlock_rows.h"
#include "report/locks/wait_reports.h"
#include "report/units.h"

namespace penna {
namespace {

// The number of locks in cycles in which threads can wait for each other; in a cycle of one thread they cannot.
size_t locks_in_cycles(const LockOrder& order) {
  std::vector<uint32_t> locks;
  for (const Inversion& inversion : order.inversions())
    if (!inversion.one_thread)
      for (const uint32_t edge : inversion.edges) locks.push_back(order.edges()[edge].from);
  std::sort(locks.begin(), locks.end());
  return static_cast<size_t>(std::unique(locks.begin(), locks.end()) - locks.begin());
}

std::string seen_text(const LockOrder& order) {
  return fmt::format("{}, {} seen", plural_text(static_cast<int64_t>(order.held().locks()), "lock"),
                     plural_text(static_cast<int64_t>(order.edges().size()), "order"));
}

// One sentence says whether a deadlock is possible, and how many locks and orders were seen.
std::string order_head(const LockOrder& order) {
  if (order.held().locks() == 0)
    return reads_range(order.held().recording()) ? "No lock was used in this time." : "No locks were recorded.";
  const uint64_t cycles = order.possible_deadlocks();
  if (cycles == 0) return fmt::format("No locks are taken in contradicting orders: {}.", seen_text(order));
  const size_t locks = locks_in_cycles(order);
  if (cycles == 1 && locks == 2)
    return fmt::format("2 locks are taken in both orders: a deadlock is possible. ({})", seen_text(order));
  return fmt::format("{} locks are taken in contradicting orders, in {}: {} possible. ({})",
                     count_text(static_cast<int64_t>(locks)), plural_text(static_cast<int64_t>(cycles), "cycle"),
                     cycles == 1 ? "a deadlock is" : "deadlocks are", seen_text(order));
}

// What was found and is not shown, and what could not be found. Each has a reason why no deadlock is expected of it, or
// says that something may be missing.
void add_left_out(const LockOrder& order, std::vector<std::string>& tail) {
  const auto cycles = [](uint64_t count) { return plural_text(static_cast<int64_t>(count), "cycle"); };
  const auto one_thread = order.inversions().size() - order.possible_deadlocks();
  if (one_thread != 0)
    tail.push_back(
        fmt::format("{} of too few threads for a deadlock so far: one thread took the locks in more than one order.",
                    cycles(one_thread)));
  if (order.gated() != 0)
    tail.push_back(fmt::format("{} not shown: another lock is always held around them, so no two threads meet there.",
                               cycles(order.gated())));
  if (order.of_readers() != 0)
    tail.push_back(fmt::format(
        "{} not shown: of readers only, who do not wait for each other (unless the rwlock prefers writers).",
        cycles(order.of_readers())));
  if (order.is_cut()) tail.push_back("There are too many orders to look for all cycles: there may be more.");
  if (order.left_out() != 0)
    tail.push_back(fmt::format("{} beyond the first {} orders were not looked at.",
                               plural_text(static_cast<int64_t>(order.left_out()), "time"),
                               count_text(static_cast<int64_t>(LockOrder::kMostOrders))));
  if (lock_sample(order.held().recording()) > 1)
    tail.push_back("Only a sample of the acquisitions was recorded (record --sample-locks): orders are missing.");
  if (order.held().too_many() != 0)
    tail.push_back(fmt::format("{} by threads that held more than {} locks were not looked at.",
                               plural_text(static_cast<int64_t>(order.held().too_many()), "acquisition"),
                               HolderTracker::kMostHeld));
}

std::string threads_text(const OrderEdge& edge, const WaitTexts& texts) {
  std::string text = texts.thread(edge.thread);
  const uint32_t others = edge.listed_threads - 1;
  if (edge.more_threads) return text + " and more";
  return others == 0 ? text : text + fmt::format(" and {} more", others);
}

// One order, "b is taken while a is held", of those that make a cycle. One row each: the stacks of both acquisitions
// are below it.
struct OrderItem {
  WaitTexts texts;
  const Inversion& inversion;
  int64_t cycle;  // its number
  const OrderEdge& edge;
  const SyncObject& held() const { return texts.held().objects()[edge.from]; }
  const SyncObject& taken() const { return texts.held().objects()[edge.to]; }
  uint32_t process() const { return held().process; }
};

// Whether text needs more than names to tell the locks apart.
struct OrderColumns {
  bool pid = false, address = false;

  explicit OrderColumns(const std::vector<OrderItem>& items) {
    std::map<std::string, const SyncObject*> named;
    for (const OrderItem& item : items)
      for (const uint32_t index : {item.edge.from, item.edge.to}) {
        const SyncObject& one = item.texts.held().objects()[index];
        const SyncObject& other = *named.try_emplace(item.texts.object(index), &one).first->second;
        pid |= one.process != items.front().process();
        address |= one.process == other.process && one.address != other.address;
      }
  }
};

Columns<OrderItem> order_columns(const OrderColumns& shown) {
  return {
      {{"cycle", "CYCLE", CellKind::kNumber}, [](const OrderItem& item) { return item.cycle; }},
      {{"count", "COUNT", CellKind::kCount}, [](const OrderItem& item) { return item.edge.count; }},
      {{"first_ns", "FIRST AT", CellKind::kDuration},
       [](const OrderItem& item) { return item.texts.since_start(item.edge.first_time); }},
      {{"one_thread", "ONE THREAD", CellKind::kNumber, false, true},
       [](const OrderItem& item) { return item.inversion.one_thread; }},
      {{"alike", "ALIKE", CellKind::kNumber, false, true}, [](const OrderItem& item) { return item.inversion.alike; }},
      {{"pid", "PID", CellKind::kNumber, false, !shown.pid},
       [](const OrderItem& item) { return item.texts.pid(item.process()); }},
      {{"held_address", "HELD AT", CellKind::kAddress, false, !shown.address},
       [](const OrderItem& item) { return static_cast<int64_t>(item.held().address); }},
      {{"taken_address", "TAKEN AT", CellKind::kAddress, false, !shown.address},
       [](const OrderItem& item) { return static_cast<int64_t>(item.taken().address); }},
      {usual({"thread", "THREAD", CellKind::kText, true}),
       [](const OrderItem& item) { return threads_text(item.edge, item.texts); }, Fill::kWhenShown},
      {{"held", "HELD", CellKind::kText, true},
       [](const OrderItem& item) { return item.texts.object(item.edge.from); },
       Fill::kWhenShown},
      {{"taken", "THEN TAKEN", CellKind::kText, true},
       [](const OrderItem& item) { return item.texts.object(item.edge.to); },
       Fill::kWhenShown}};
}

// Both stacks of an order: where the first lock, still held, was taken, and where the second one is.
void describe_order(TableRow& row, OrderItem& item) {
  const WaitTexts& texts = item.texts;
  const OrderEdge& edge = item.edge;
  texts.add_stack(row.details, fmt::format("holds {}, taken in", texts.object(edge.from)), item.process(),
                  edge.from_stack);
  texts.add_stack(row.details, fmt::format("and takes {} in", texts.object(edge.to)), item.process(), edge.to_stack);
}

}  // namespace

Table inversions_table(const LockOrder& order, const WaitTexts& texts) {
  std::vector<OrderItem> items;
  int64_t cycle = 0;
  for (const Inversion& inversion : order.inversions()) {
    ++cycle;
    for (const uint32_t edge : inversion.edges) items.push_back({texts, inversion, cycle, order.edges()[edge]});
  }
  Table table;
  table.key = "inversions";
  table.title = "Locks taken in contradicting orders";
  table.details_key = "stacks";
  const OrderColumns shown(items);
  order_columns(shown).fill(table, std::move(items), describe_order);
  return table;
}

Report order_report(const LockOrder& order, const Deadlocks& deadlocks, const WaitTexts& texts,
                    std::span<const uint64_t> ends) {
  Report report;
  report.head = deadlock_sentences(deadlocks, texts);
  report.head.push_back(order_head(order));
  Table stuck = deadlock_table(deadlocks, texts, ends);
  stuck.is_aside = true;
  report.add(std::move(stuck));
  report.add(inversions_table(order, texts));
  uint64_t alike = 0;
  for (const Inversion& inversion : order.inversions()) alike += inversion.alike;
  if (alike != 0)
    report.tail.push_back(fmt::format("{} of other locks, taken in the same places, are not listed.",
                                      plural_text(static_cast<int64_t>(alike), "more cycle")));
  add_left_out(order, report.tail);
  return report;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// penna report locks and waits: which locks were waited for, from where, and who held them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

Cell duration(const Recording& recording, uint64_t ticks) { return ticks_to_ns(recording, ticks); }

// Nothing rather than "0 ns" where there was nothing to measure.
Cell maximum(const Recording& recording, const Distribution& distribution) {
  return distribution.count() == 0 ? Cell{} : duration(recording, distribution.max());
}
Cell p99(const Recording& recording, const Distribution& distribution) {
  return distribution.count() == 0 ? Cell{} : duration(recording, distribution.percentile(0.99));
}

// What locks and condition variables are called: variables by their name, others by who allocated the block they lie in.
class LockNames {
 public:
  LockNames(Names& names, const LockBlocks* blocks) : names_(names), blocks_(blocks) {}

  std::string operator()(uint32_t process, uint64_t address, uint64_t time) const {
    if (auto name = names_.variable(process, address, time)) return *name;
    const LockBlock* block = blocks_ == nullptr ? nullptr : blocks_->of(process, address);
    return block == nullptr ? names_.data(process, address, time) : in_block(*block, address);
  }
  std::string operator()(const LockStats& lock) const { return (*this)(lock.process, lock.address, lock.first_time); }
  bool knows_blocks() const { return blocks_ != nullptr; }

 private:
  // "at +40 in the block of 112 B that make_queue (queue.cc:31) allocated".
  std::string in_block(const LockBlock& block, uint64_t address) const {
    std::string text = address == block.address ? "" : fmt::format("at +{} ", address - block.address);
    text += fmt::format("in the block of {}", bytes_text(static_cast<int64_t>(block.size)));
    const NameFrame* origin = names_.origin(block.process, block.stack);
    if (origin == nullptr) return text;
    text += " that " + origin->function;
    if (origin->line != 0) text += fmt::format(" ({}:{})", base_name(origin->file), origin->line);
    return text + " allocated";
  }

  Names& names_;
  const LockBlocks* blocks_;
};

// Locks that are no variables are told apart by their address.
TableColumn address_column(const LockNames& name_of) {
  return {"address", "ADDRESS", CellKind::kAddress, false, !name_of.knows_blocks()};
}

// "worker (tid 12) in 3 of 4 waits".
std::string holder_text(const Recording& recording, const LockStats& lock) {
  if (lock.owners.empty()) return "";
  const LockWaits& owner = lock.owners[0];
  return fmt::format("{} in {} of {}", thread_label(recording, lock.process, owner.id), owner.waits, lock.wait.count());
}

Table locks_table(const Recording& recording, const Locks& locks, const LockNames& name_of) {
  Table table;
  table.key = "locks";
  table.columns = {{"wait_ns", "WAIT", CellKind::kDuration},
                   {"waits", "WAITS", CellKind::kCount},
                   {"max_wait_ns", "MAX", CellKind::kDuration},
                   {"p99_wait_ns", "P99", CellKind::kDuration},
                   {"hold_ns", "HOLD", CellKind::kDuration},
                   {"max_hold_ns", "MAX HOLD", CellKind::kDuration},
                   {"taken", "TAKEN", CellKind::kCount},
                   {"busy", "BUSY", CellKind::kCount, false, true},
                   {"timeouts", "TIMEOUTS", CellKind::kCount, false, true},
                   {"threads", "THREADS", CellKind::kCount},
                   {"pid", "PID", CellKind::kNumber, false, true},
                   address_column(name_of),
                   {"lock", "LOCK", CellKind::kText, true},
                   {"holder", "MOST OFTEN HELD BY", CellKind::kText, true}};
  const std::vector<LockStats>& all = locks.all();
  for (const LockStats* lock : locks.by_wait()) {
    table.add({duration(recording, lock->wait.sum()), number(lock->wait.count()), maximum(recording, lock->wait),
               p99(recording, lock->wait), duration(recording, lock->hold.sum()), maximum(recording, lock->hold),
               number(lock->acquisitions), number(lock->busy), number(lock->timeouts),
               number(uint64_t{lock->threads.size()}), int64_t{recording.processes()[lock->process].process.pid},
               static_cast<int64_t>(lock->address), std::string(), holder_text(recording, *lock)},
              static_cast<uint32_t>(lock - all.data()));
  }
  table.complete = [&all, name_of](TableRow& row) { row.cells[12] = name_of(all[row.source]); };
  return table;
}

// A row for each stack from which a lock was waited for, most time first.
Table waits_table(const Recording& recording, const Locks& locks, Names& names, const LockNames& name_of) {
  Table table;
  table.key = "waits";
  table.title = "Waits by stack";
  table.details_key = "stack";
  table.details_in_row = true;
  table.columns = {{"wait_ns", "WAIT", CellKind::kDuration},
                   {"waits", "WAITS", CellKind::kCount},
                   {"max_wait_ns", "MAX", CellKind::kDuration},
                   {"pid", "PID", CellKind::kNumber, false, true},
                   {"lock", "LOCK", CellKind::kText, true}};
  add_place_columns(table, "STACK");
  const std::vector<LockStats>& all = locks.all();
  std::vector<std::pair<uint32_t, uint32_t>> sources;  // lock, waiter
  for (uint32_t lock = 0; lock < all.size(); ++lock)
    for (uint32_t waiter = 0; waiter < all[lock].waiters.size(); ++waiter) sources.push_back({lock, waiter});
  std::stable_sort(sources.begin(), sources.end(), [&](const auto& a, const auto& b) {
    return all[a.first].waiters[a.second].time > all[b.first].waiters[b.second].time;
  });
  for (uint32_t i = 0; i < sources.size(); ++i) {
    const LockStats& lock = all[sources[i].first];
    const LockWaits& waiter = lock.waiters[sources[i].second];
    std::vector<Cell> cells = {duration(recording, waiter.time), number(waiter.waits),
                               duration(recording, waiter.longest),
                               int64_t{recording.processes()[lock.process].process.pid}, std::string()};
    add_place_cells(cells);
    table.add(std::move(cells), i);
  }
  table.complete = [&all, &names, name_of, sources = std::move(sources)](TableRow& row) {
    const LockStats& lock = all[sources[row.source].first];
    row.cells[4] = name_of(lock);
    set_stack(row, lock.process, lock.waiters[sources[row.source].second].id, names);
  };
  return table;
}

Table conditions_table(const Recording& recording, const Locks& locks, const LockNames& name_of) {
  Table table;
  table.key = "conditions";
  table.title = "Condition variables (time until signalled and locked again)";
  table.columns = {{"wait_ns", "WAIT", CellKind::kDuration},       {"waits", "WAITS", CellKind::kCount},
                   {"max_wait_ns", "MAX", CellKind::kDuration},    {"timeouts", "TIMEOUTS", CellKind::kCount},
                   {"pid", "PID", CellKind::kNumber, false, true}, address_column(name_of),
                   {"mutex", "MUTEX", CellKind::kText, true},      {"condition", "CONDITION", CellKind::kText, true}};
  const std::vector<ConditionStats>& all = locks.conditions();
  for (uint32_t i = 0; i < all.size(); ++i) {
    const ConditionStats& condition = all[i];
    table.add(
        {duration(recording, condition.wait.sum()), number(condition.wait.count()), maximum(recording, condition.wait),
         number(condition.timeouts), int64_t{recording.processes()[condition.process].process.pid},
         static_cast<int64_t>(condition.address), std::string(), std::string()},
        i);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const TableRow& a, const TableRow& b) {
    return all[a.source].wait.sum() > all[b.source].wait.sum();
  });
  table.complete = [&all, name_of](TableRow& row) {
    const ConditionStats& condition = all[row.source];
    row.cells[6] = name_of(condition.process, condition.lock, condition.first_time);
    row.cells[7] = name_of(condition.process, condition.address, condition.first_time);
  };
  return table;
}

std::string head(const Recording& recording, const Locks& locks) {
  const LockCounts counts = locks.counts();
  if (counts.locks == 0) return "No locks were recorded.";
  return fmt::format(
      "{} taken {}, {} after waiting, {} in all", plural_text(static_cast<int64_t>(counts.locks), "lock"),
      plural_text(static_cast<int64_t>(counts.acquisitions), "time"),
      count_text(static_cast<int64_t>(counts.contended)), duration_text(ticks_to_ns(recording, counts.wait_time)));
}

}  // namespace

std::string thread_label(const Recording& recording, uint32_t process, uint32_t tid) {
  for (uint32_t index : recording.processes()[process].threads) {
    const RecordedThread& thread = recording.threads()[index];
    if (thread.tid == tid && !thread.name.empty()) return fmt::format("{} (tid {})", thread.name, tid);
  }
  return fmt::format("tid {}", tid);
}

Report locks_report(const Recording& recording, const Locks& locks, Names& names, const LockBlocks* blocks) {
  const LockNames name_of(names, blocks);
  Report report;
  report.head.push_back(head(recording, locks));
  for (Table table : {locks_table(recording, locks, name_of), waits_table(recording, locks, names, name_of),
                      conditions_table(recording, locks, name_of)})
    if (!table.rows.empty()) report.tables.push_back(std::move(table));
  return report;
}

Report waits_report(const Recording& recording, const Locks& locks, Names& names, const LockBlocks* blocks) {
  Report report;
  report.head.push_back(head(recording, locks));
  Table table = waits_table(recording, locks, names, LockNames(names, blocks));
  table.title.clear();
  if (table.rows.empty()) {
    report.head.push_back("No lock was waited for.");
  } else {
    report.tables.push_back(std::move(table));
  }
  return report;
}

}  // namespace penna

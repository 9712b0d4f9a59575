// SPDX-License-Identifier: MIT
// See lock_diff.h.
#include "report/locks/lock_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "report/columns.h"
#include "report/frames.h"
#include "report/locks/lock_names.h"
#include "report/sides.h"
#include "report/units.h"

namespace penna {
namespace {

using LockSides = SidesOf<NamedLockSums>;
using LockDiffItem = NamedSides<NamedLockSums>;

// Whether a change is noise. Never if the number of acquisitions differs: then the program did something else.
bool is_quiet(const LockSides& sides, const QuietLimit& limit) {
  const int64_t change = std::abs(sides.change<&NamedLockSums::wait_ns>());
  if (limit.absolute != 0) return change < limit.absolute;
  if (sides.a == nullptr || sides.b == nullptr || sides.a->taken != sides.b->taken) return false;
  const auto larger = static_cast<double>(std::max(sides.a->wait_ns, sides.b->wait_ns));
  return limit.percent != 0 && static_cast<double>(change) <= larger * limit.percent / 100;
}

template <auto kSum>
Cell of_a(const LockDiffItem& item) {
  return LockSides::cell<kSum>(item.sides.a);
}
template <auto kSum>
Cell of_b(const LockDiffItem& item) {
  return LockSides::cell<kSum>(item.sides.b);
}

Columns<LockDiffItem> lock_diff_columns() {
  using Sums = NamedLockSums;
  return {{minor({"waits_a", "WAITS A", CellKind::kCount}), of_a<&Sums::waits>},
          {minor({"waits_b", "WAITS B", CellKind::kCount}), of_b<&Sums::waits>},
          {{"wait_a_ns", "WAIT A", CellKind::kDuration}, of_a<&Sums::wait_ns>},
          {{"wait_b_ns", "WAIT B", CellKind::kDuration}, of_b<&Sums::wait_ns>},
          {{"delta_ns", "DELTA", CellKind::kChange},
           [](const LockDiffItem& item) { return item.sides.change<&NamedLockSums::wait_ns>(); }},
          {{"delta_percent", "OF A", CellKind::kPercentChange},
           [](const LockDiffItem& item) { return item.sides.percent<&NamedLockSums::wait_ns>(); }},
          {minor({"hold_a_ns", "HOLD A", CellKind::kDuration}), of_a<&Sums::hold_ns>},
          {minor({"hold_b_ns", "HOLD B", CellKind::kDuration}), of_b<&Sums::hold_ns>},
          {{"taken_a", "TAKEN A", CellKind::kCount}, of_a<&Sums::taken>},
          {{"taken_b", "TAKEN B", CellKind::kCount}, of_b<&Sums::taken>},
          {{"contended_a", "CONTENDED A", CellKind::kCount, false, true}, of_a<&Sums::contended>},
          {{"contended_b", "CONTENDED B", CellKind::kCount, false, true}, of_b<&Sums::contended>},
          {{"quiet", "QUIET", CellKind::kCount, false, true}, [](const LockDiffItem& item) { return item.is_quiet; }},
          {{"lock", "LOCK", CellKind::kText, true}, [](const LockDiffItem& item) { return item.name; }}};
}

std::string side_text(const char* side, const LocksByName& locks) {
  return fmt::format("{}: {} taken {}, {} after waiting, {} in all", side, plural_text(locks.count, "lock"),
                     plural_text(static_cast<int64_t>(locks.all.taken), "time"),
                     count_text(static_cast<int64_t>(locks.all.contended)), duration_text(locks.all.wait_ns));
}

void add_sums(NamedLockSums& sums, const NamedLockSums& more) {
  sums.taken += more.taken;
  sums.contended += more.contended;
  sums.waits += more.waits;
  for (int64_t NamedLockSums::*time : {&NamedLockSums::wait_ns, &NamedLockSums::hold_ns})
    if (__builtin_add_overflow(sums.*time, more.*time, &(sums.*time))) sums.*time = INT64_MAX;
}

}  // namespace

LocksByName locks_by_name(const Recording& recording, const Locks& locks, Names& names, const LockBlocks* blocks) {
  const LockNames name_of(recording, names, blocks);
  LocksByName result;
  for (const LockStats& lock : locks.all()) {
    if (!has_holder(lock.kind) || !lock.seen) continue;
    const NamedLockSums sums{lock.acquisitions, lock.contended, lock.wait.count(),
                             ticks_to_ns(recording, lock.wait.sum()), ticks_to_ns(recording, lock.hold.sum())};
    add_sums(result.locks[name_of(lock)], sums);
    add_sums(result.all, sums);
    ++result.count;
  }
  return result;
}

Report lock_diff_report(const LocksByName& a, const LocksByName& b, const QuietLimit& quiet) {
  Table table;
  table.key = "locks";
  table.order = "sorted by DELTA, the change of the time waited";
  const int64_t still = fill_sides<&NamedLockSums::wait_ns>(
      lock_diff_columns(), a.locks, b.locks, [&](const LockSides& sides) { return is_quiet(sides, quiet); }, table);
  Report report;
  report.head = {side_text("A", a), side_text("B", b)};
  if (still != 0)
    report.head.push_back(fmt::format("{} {}", plural_text(still, "lock"),
                                      quiet.absolute != 0
                                          ? fmt::format("changed by less than {}", duration_text(quiet.absolute))
                                          : fmt::format("taken as often in both, with waits that changed by at most {}",
                                                        percent_text(quiet.percent))));
  report.add(std::move(table));
  return report;
}

}  // namespace penna

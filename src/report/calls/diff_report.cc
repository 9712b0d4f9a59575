// SPDX-License-Identifier: MIT
// See diff_report.h.
#include "report/calls/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "report/columns.h"
#include "report/frames.h"
#include "report/sides.h"
#include "report/units.h"

namespace penna {
namespace {

// Saturates: a damaged recording may overflow sums.
void add_to(int64_t& sum, int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = INT64_MAX;
}

using Pair = SidesOf<NamedCalls>;
using PairItem = NamedSides<NamedCalls>;

// Whether a change is noise. Never if the number of calls differs: then the program did something else.
bool is_quiet(const Pair& pair, const QuietLimit& limit) {
  const int64_t change = std::abs(pair.change<&NamedCalls::total_ns>());
  if (limit.absolute != 0) return change < limit.absolute;
  if (pair.a == nullptr || pair.b == nullptr || pair.a->calls != pair.b->calls) return false;
  const auto larger = static_cast<double>(std::max(pair.a->total_ns, pair.b->total_ns));
  return static_cast<double>(change) < larger * limit.percent / 100;
}

std::string side_text(const char* side, const CallsByName& calls) {
  return fmt::format("{}: {} of {}, {}", side, plural_text(static_cast<int64_t>(calls.calls), "call"),
                     plural_text(static_cast<int64_t>(calls.functions.size()), "function"),
                     duration_text(calls.self_ns));
}

Columns<PairItem> pair_columns() {
  return {{minor({"calls_a", "CALLS A", CellKind::kCount}),
           [](const PairItem& one) { return Pair::cell<&NamedCalls::calls>(one.sides.a); }},
          {minor({"calls_b", "CALLS B", CellKind::kCount}),
           [](const PairItem& one) { return Pair::cell<&NamedCalls::calls>(one.sides.b); }},
          {{"total_a_ns", "TOTAL A", CellKind::kDuration},
           [](const PairItem& one) { return Pair::cell<&NamedCalls::total_ns>(one.sides.a); }},
          {{"total_b_ns", "TOTAL B", CellKind::kDuration},
           [](const PairItem& one) { return Pair::cell<&NamedCalls::total_ns>(one.sides.b); }},
          {{"delta_ns", "DELTA", CellKind::kChange},
           [](const PairItem& one) { return one.sides.change<&NamedCalls::total_ns>(); }},
          {{"delta_percent", "OF A", CellKind::kPercentChange},
           [](const PairItem& one) { return one.sides.percent<&NamedCalls::total_ns>(); }},
          {{"self_a_ns", "SELF A", CellKind::kDuration, false, true},
           [](const PairItem& one) { return Pair::cell<&NamedCalls::self_ns>(one.sides.a); }},
          {{"self_b_ns", "SELF B", CellKind::kDuration, false, true},
           [](const PairItem& one) { return Pair::cell<&NamedCalls::self_ns>(one.sides.b); }},
          {minor({"self_delta_ns", "SELF DELTA", CellKind::kChange}),
           [](const PairItem& one) { return one.sides.change<&NamedCalls::self_ns>(); }},
          {{"quiet", "QUIET", CellKind::kCount, false, true}, [](const PairItem& one) { return one.is_quiet; }},
          {{"function", "FUNCTION", CellKind::kText, true}, [](const PairItem& one) { return one.name; }}};
}

}  // namespace

// Functions with the same name (static ones, clones) are summed up.
CallsByName calls_by_name(const Recording& recording, const Calls& calls, Names& names) {
  CallsByName result;
  for (const FunctionCalls* function : calls.by_total()) {
    NamedCalls& named = result.functions[names.function_name(calls.functions().place(function->function))];
    const int64_t self = ticks_to_ns(recording, function->self);
    named.calls += function->calls;
    add_to(named.total_ns, ticks_to_ns(recording, function->total));
    add_to(named.self_ns, self);
    result.calls += function->calls;
    add_to(result.self_ns, self);
  }
  return result;
}

Report diff_report(const CallsByName& a, const CallsByName& b, const QuietLimit& quiet) {
  Table table;
  table.key = "calls";
  table.order = "sorted by DELTA, the change of the time with what they called";
  const int64_t still = fill_sides<&NamedCalls::total_ns>(
      pair_columns(), a.functions, b.functions, [&](const Pair& pair) { return is_quiet(pair, quiet); }, table);
  Report report;
  report.head = {side_text("A", a), side_text("B", b)};
  if (still != 0)
    report.head.push_back(fmt::format(
        "{} {} {}", plural_text(still, "function"), still == 1 ? "has" : "have",
        quiet.absolute != 0
            ? fmt::format("changed by less than {}", duration_text(quiet.absolute))
            : fmt::format("as many calls in both and changed by less than {}", percent_text(quiet.percent))));
  report.add(std::move(table));
  return report;
}

}  // namespace penna

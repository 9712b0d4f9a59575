// SPDX-License-Identifier: MIT
// See diff_report.h.
#include "report/calls/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "report/columns.h"
#include "report/frames.h"
#include "report/units.h"

namespace penna {
namespace {

// Sums of a damaged recording stay at the limit.
void add_to(int64_t& sum, int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = INT64_MAX;
}

// A function in both recordings; null: it is not in that one.
struct Pair {
  const NamedCalls* a = nullptr;
  const NamedCalls* b = nullptr;
  int64_t total_change() const { return (b ? b->total_ns : 0) - (a ? a->total_ns : 0); }
  int64_t self_change() const { return (b ? b->self_ns : 0) - (a ? a->self_ns : 0); }
};

// Whether a change is noise. With another number of calls it never is: then the program did
// something else.
bool is_quiet(const Pair& pair, const QuietLimit& limit) {
  const int64_t change = std::abs(pair.total_change());
  if (limit.absolute != 0) return change < limit.absolute;
  if (pair.a == nullptr || pair.b == nullptr || pair.a->calls != pair.b->calls) return false;
  const auto larger = static_cast<double>(std::max(pair.a->total_ns, pair.b->total_ns));
  return static_cast<double>(change) < larger * limit.percent / 100;
}

// By the size of the change, whichever its sign; equal ones by name, as the map has them.
std::vector<std::pair<std::string, Pair>> pairs_of(const CallsByName& a, const CallsByName& b) {
  std::map<std::string, Pair> by_name;
  for (const auto& [name, calls] : a.functions) by_name[name].a = &calls;
  for (const auto& [name, calls] : b.functions) by_name[name].b = &calls;
  std::vector<std::pair<std::string, Pair>> pairs(by_name.begin(), by_name.end());
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& left, const auto& right) {
    return std::abs(left.second.total_change()) > std::abs(right.second.total_change());
  });
  return pairs;
}

std::string side_text(const char* side, const CallsByName& calls) {
  return fmt::format("{}: {} of {}, {}", side, plural_text(static_cast<int64_t>(calls.calls), "call"),
                     plural_text(static_cast<int64_t>(calls.functions.size()), "function"),
                     duration_text(calls.self_ns));
}

struct PairItem {
  std::string name;
  Pair pair;
  bool is_quiet;
};

// An empty cell, not 0: the function is not in that recording.
template <auto NamedCalls::*kSum>
Cell sum_of(const NamedCalls* calls) {
  return calls == nullptr ? Cell{} : Cell{static_cast<int64_t>(calls->*kSum)};
}

Columns<PairItem> pair_columns() {
  return {{minor({"calls_a", "CALLS A", CellKind::kCount}),
           [](const PairItem& one) { return sum_of<&NamedCalls::calls>(one.pair.a); }},
          {minor({"calls_b", "CALLS B", CellKind::kCount}),
           [](const PairItem& one) { return sum_of<&NamedCalls::calls>(one.pair.b); }},
          {{"total_a_ns", "TOTAL A", CellKind::kDuration},
           [](const PairItem& one) { return sum_of<&NamedCalls::total_ns>(one.pair.a); }},
          {{"total_b_ns", "TOTAL B", CellKind::kDuration},
           [](const PairItem& one) { return sum_of<&NamedCalls::total_ns>(one.pair.b); }},
          {{"delta_ns", "DELTA", CellKind::kChange}, [](const PairItem& one) { return one.pair.total_change(); }},
          {{"delta_percent", "OF A", CellKind::kPercentChange},
           [](const PairItem& one) {
             const int64_t before = one.pair.a == nullptr ? 0 : one.pair.a->total_ns;
             if (before == 0) return Cell{};
             return Cell{100 * static_cast<double>(one.pair.total_change()) / static_cast<double>(before)};
           }},
          {{"self_a_ns", "SELF A", CellKind::kDuration, false, true},
           [](const PairItem& one) { return sum_of<&NamedCalls::self_ns>(one.pair.a); }},
          {{"self_b_ns", "SELF B", CellKind::kDuration, false, true},
           [](const PairItem& one) { return sum_of<&NamedCalls::self_ns>(one.pair.b); }},
          {minor({"self_delta_ns", "SELF DELTA", CellKind::kChange}),
           [](const PairItem& one) { return one.pair.self_change(); }},
          {{"quiet", "QUIET", CellKind::kCount, false, true}, [](const PairItem& one) { return one.is_quiet; }},
          {{"function", "FUNCTION", CellKind::kText, true}, [](const PairItem& one) { return one.name; }}};
}

}  // namespace

// Several functions of one name (static ones, clones) are summed up.
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
  std::vector<PairItem> items;
  size_t still = 0;
  for (const auto& [name, pair] : pairs_of(a, b)) {
    items.push_back({name, pair, is_quiet(pair, quiet)});
    still += items.back().is_quiet;
  }
  pair_columns().fill(table, items);
  for (TableRow& row : table.rows) row.is_quiet = items[row.source].is_quiet;
  Report report;
  report.head = {side_text("A", a), side_text("B", b)};
  if (still != 0)
    report.head.push_back(fmt::format(
        "{} {} {}", plural_text(static_cast<int64_t>(still), "function"), still == 1 ? "has" : "have",
        quiet.absolute != 0
            ? fmt::format("changed by less than {}", duration_text(quiet.absolute))
            : fmt::format("as many calls in both and changed by less than {}", percent_text(quiet.percent))));
  report.add(std::move(table));
  return report;
}

}  // namespace penna

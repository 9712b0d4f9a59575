// SPDX-License-Identifier: MIT
// See diff_report.h.
#include "report/calls/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "report/frames.h"
#include "report/units.h"

namespace penna {
namespace {

// Sums of a damaged recording stay at the limit.
void add_to(int64_t& sum, int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = INT64_MAX;
}

struct Pair {
  const NamedCalls* a = nullptr;
  const NamedCalls* b = nullptr;
  int64_t total_change() const { return (b ? b->total_ns : 0) - (a ? a->total_ns : 0); }
  int64_t self_change() const { return (b ? b->self_ns : 0) - (a ? a->self_ns : 0); }
};

bool is_quiet(const Pair& pair, const QuietLimit& limit) {
  const int64_t change = std::abs(pair.total_change());
  if (limit.absolute != 0) return change < limit.absolute;
  if (pair.a == nullptr || pair.b == nullptr || pair.a->calls != pair.b->calls) return false;
  const auto larger = static_cast<double>(std::max(pair.a->total_ns, pair.b->total_ns));
  return static_cast<double>(change) < larger * limit.percent / 100;
}

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

std::vector<Cell> cells_of(const std::string& name, const Pair& pair, bool quiet) {
  const auto of = [](const NamedCalls* calls, auto value) { return calls == nullptr ? Cell{} : Cell{value(*calls)}; };
  const auto count = [](const NamedCalls& calls) { return static_cast<int64_t>(calls.calls); };
  const auto total = [](const NamedCalls& calls) { return calls.total_ns; };
  const auto self = [](const NamedCalls& calls) { return calls.self_ns; };
  const int64_t before = pair.a == nullptr ? 0 : pair.a->total_ns;
  std::vector<Cell> cells = {of(pair.a, count), of(pair.b, count), of(pair.a, total), of(pair.b, total),
                             pair.total_change()};
  if (before != 0) {
    cells.emplace_back(100 * static_cast<double>(pair.total_change()) / static_cast<double>(before));
  } else {
    cells.emplace_back();
  }
  cells.insert(cells.end(), {of(pair.a, self), of(pair.b, self), pair.self_change(), int64_t{quiet}, name});
  return cells;
}

}  // namespace

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
  table.columns = {{"calls_a", "CALLS A", CellKind::kCount},
                   {"calls_b", "CALLS B", CellKind::kCount},
                   {"total_a_ns", "TOTAL A", CellKind::kDuration},
                   {"total_b_ns", "TOTAL B", CellKind::kDuration},
                   {"delta_ns", "DELTA", CellKind::kChange},
                   {"delta_percent", "OF A", CellKind::kPercentChange},
                   {"self_a_ns", "SELF A", CellKind::kDuration, false, true},
                   {"self_b_ns", "SELF B", CellKind::kDuration, false, true},
                   {"self_delta_ns", "SELF DELTA", CellKind::kChange},
                   {"quiet", "QUIET", CellKind::kCount, false, true},
                   {"function", "FUNCTION", CellKind::kText, true}};
  size_t still = 0;
  for (const auto& [name, pair] : pairs_of(a, b)) {
    const bool noise = is_quiet(pair, quiet);
    table.add(cells_of(name, pair, noise)).is_quiet = noise;
    still += noise;
  }
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

// SPDX-License-Identifier: MIT
// See alloc_diff.h.
#include "report/alloc/alloc_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "model/events/sampling.h"
#include "report/columns.h"
#include "report/units.h"

namespace penna {
namespace {

// A byte sum as a signed number, so that differences can be taken; clamped to the maximum.
int64_t held(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)); }

// One stack in both recordings; null: missing from that one.
struct Sides {
  std::string key;
  const NamedStackSums* a = nullptr;
  const NamedStackSums* b = nullptr;
  int64_t bytes_change() const { return (b ? held(b->bytes) : 0) - (a ? held(a->bytes) : 0); }
  int64_t count_change() const { return (b ? held(b->count) : 0) - (a ? held(a->count) : 0); }
};

// Whether a change is noise. With only a percentage, both bytes and count must be within it: fewer, larger blocks are a
// change, even if the bytes stay the same.
bool is_quiet(const Sides& sides, const QuietLimit& limit) {
  if (limit.absolute != 0) return std::abs(sides.bytes_change()) < limit.absolute;
  if (sides.a == nullptr || sides.b == nullptr) return false;
  const auto still = [&](int64_t change, uint64_t a, uint64_t b) {
    return static_cast<double>(std::abs(change)) <= static_cast<double>(std::max(a, b)) * limit.percent / 100;
  };
  return limit.percent != 0 && still(sides.bytes_change(), sides.a->bytes, sides.b->bytes) &&
         still(sides.count_change(), sides.a->count, sides.b->count);
}

// Whether two samples of the same program would differ by this much, in 19 cases of 20. Each sampled block stands for
// `mean` bytes, and their number has a Poisson distribution, whose variance is that number: so the variance of a byte
// sum is bytes * mean.
bool is_within_error(const Sides& sides, const StacksByName& a, const StacksByName& b) {
  const auto variance = [](const NamedStackSums* sums, uint64_t mean) {
    return sums == nullptr ? 0 : static_cast<double>(sums->bytes) * static_cast<double>(mean);
  };
  const double change = static_cast<double>(sides.bytes_change());
  return change * change <=
         kTwoSided95 * kTwoSided95 * (variance(sides.a, a.sample_mean) + variance(sides.b, b.sample_mean));
}

// A key with one program's name in its frames replaced by the other's: a new build may have another name.
std::string in_program(std::string key, const std::string& before, const std::string& after) {
  if (before == after || before.empty() || after.empty()) return key;
  const std::string old = "\t" + before + "\n", now = "\t" + after + "\n";
  for (size_t at = 0; (at = key.find(old, at)) != key.npos; at += now.size()) key.replace(at, old.size(), now);
  return key;
}

// Largest change first, up or down; for equal ones, by the change in count.
std::vector<Sides> sides_of(const StacksByName& a, const StacksByName& b) {
  std::map<std::string, Sides> by_name;
  for (const auto& [key, sums] : a.stacks) by_name[in_program(key, a.program, b.program)].a = &sums;
  for (const auto& [key, sums] : b.stacks) by_name[key].b = &sums;
  std::vector<Sides> all;
  for (auto& [key, sides] : by_name) {
    all.push_back(sides);
    all.back().key = key;
  }
  std::stable_sort(all.begin(), all.end(), [](const Sides& left, const Sides& right) {
    const int64_t l = std::abs(left.bytes_change()), r = std::abs(right.bytes_change());
    return l != r ? l > r : std::abs(left.count_change()) > std::abs(right.count_change());
  });
  return all;
}

// Splits a key into the frames that it was made of: nothing else is kept of a stack.
std::vector<TableDetail> details_of(const std::string& key) {
  std::vector<TableDetail> details;
  for (size_t at = 0; at < key.size();) {
    const size_t tab = key.find('\t', at), end = key.find('\n', tab);
    const std::string module = key.substr(tab + 1, end - tab - 1);
    details.push_back({key.substr(at, tab - at), module.empty() ? "" : "[" + module + "]"});
    at = end + 1;
  }
  if (details.empty()) details.push_back({"(no stack was recorded)", ""});
  return details;
}

// Function names come from the file: they must not contain the separators of a key, or details_of() would split it
// wrongly.
std::string plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

std::string side_text(const char* side, const StacksByName& sums, StackSums what) {
  return fmt::format("{}: {} in {}{}, {}", side, bytes_text(held(sums.bytes)),
                     plural_text(held(sums.count), what == StackSums::kLeaked ? "block" : "allocation"),
                     what == StackSums::kLeaked ? " not freed" : "", plural_text(held(sums.stacks.size()), "stack"));
}

struct SidesItem {
  Sides sides;
  bool is_quiet;
};

// An empty cell, not 0: that recording does not have the stack.
template <auto NamedStackSums::*kSum>
Cell sum_of(const NamedStackSums* sums) {
  return sums == nullptr ? Cell{} : number(sums->*kSum);
}

Columns<SidesItem> sides_columns() {
  return {
      {minor({"count_a", "COUNT A", CellKind::kCount}),
       [](const SidesItem& one) { return sum_of<&NamedStackSums::count>(one.sides.a); }},
      {minor({"count_b", "COUNT B", CellKind::kCount}),
       [](const SidesItem& one) { return sum_of<&NamedStackSums::count>(one.sides.b); }},
      {{"bytes_a", "BYTES A", CellKind::kBytes},
       [](const SidesItem& one) { return sum_of<&NamedStackSums::bytes>(one.sides.a); }},
      {{"bytes_b", "BYTES B", CellKind::kBytes},
       [](const SidesItem& one) { return sum_of<&NamedStackSums::bytes>(one.sides.b); }},
      {{"delta_bytes", "DELTA", CellKind::kBytesChange}, [](const SidesItem& one) { return one.sides.bytes_change(); }},
      {{"delta_percent", "OF A", CellKind::kPercentChange},
       [](const SidesItem& one) {
         const NamedStackSums* a = one.sides.a;
         if (a == nullptr || a->bytes == 0) return Cell{};
         return Cell{100 * static_cast<double>(one.sides.bytes_change()) / static_cast<double>(a->bytes)};
       }},
      {minor({"delta_count", "COUNT DELTA", CellKind::kCountChange}),
       [](const SidesItem& one) { return one.sides.count_change(); }},
      {{"quiet", "QUIET", CellKind::kCount, false, true}, [](const SidesItem& one) { return one.is_quiet; }},
      {{"function", "STACK", CellKind::kText, true},
       [](const SidesItem& one) { return details_of(one.sides.key)[0].text; },
       Fill::kWhenShown}};
}

}  // namespace

// Lines are left out: they move with every edit, while the stack stays the same.
StacksByName stacks_by_name(const Allocations& heap, Names& names, StackSums what, LeakSuppressor* suppressor) {
  StacksByName result;
  result.sample_mean = heap.sample_mean();
  result.program = plain(names.program());
  for (const StackAllocations& stack : heap.stacks()) {
    const bool leaked = what == StackSums::kLeaked;
    if (leaked &&
        (stack.live_blocks == 0 || (suppressor != nullptr && suppressor->suppresses(stack.process, stack.stack))))
      continue;
    std::string key;
    for (const NameFrame* frame : names.shown(stack.process, stack.stack).frames) {
      key += plain(std::string(names.line_name(*frame))) + "\t";
      if (frame->named && frame->module != kNoModule) key += plain(names.map().file_name(frame->module));
      key += '\n';
    }
    NamedStackSums& sums = result.stacks[key];
    const uint64_t count = leaked ? stack.live_blocks : stack.allocations;
    const uint64_t bytes = leaked ? stack.live_bytes : stack.bytes;
    sums.count += count;
    sums.bytes += bytes;
    result.count += count;
    result.bytes += bytes;
  }
  return result;
}

// With an absolute limit the user has defined noise; the sampling error counts only without one.
Report alloc_diff_report(const StacksByName& a, const StacksByName& b, StackSums what, const QuietLimit& quiet) {
  Table table;
  table.key = what == StackSums::kLeaked ? "leaks" : "alloc";
  table.order = "sorted by DELTA, the change of the bytes";
  table.details_key = "stack";
  table.details_in_row = true;
  const bool sampled = a.sample_mean != 0 || b.sample_mean != 0;
  std::vector<SidesItem> items;
  int64_t still = 0;
  std::vector<Sides> all = sides_of(a, b);
  for (Sides& sides : all) {
    const bool noise = is_quiet(sides, quiet) || (sampled && quiet.absolute == 0 && is_within_error(sides, a, b));
    items.push_back({std::move(sides), noise});
    still += noise;
  }
  sides_columns().fill(table, items, [](TableRow& row, SidesItem& one) { row.details = details_of(one.sides.key); });
  for (TableRow& row : table.rows) row.is_quiet = items[row.source].is_quiet;
  Report report;
  report.head = {side_text("A", a, what), side_text("B", b, what)};
  if (still != 0)
    report.head.push_back(fmt::format(
        "{} changed by {}", plural_text(still, "stack has", "stacks have"),
        quiet.absolute != 0 ? "less than " + bytes_text(quiet.absolute)
        : sampled ? fmt::format("at most {}, or by no more than samples of the same do", percent_text(quiet.percent))
                  : fmt::format("at most {}, in bytes and in number", percent_text(quiet.percent))));
  report.add(std::move(table));
  return report;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// penna report alloc --unmatched: frees of blocks that were not live, by the freeing stack, and which of these blocks
// had been freed before.
#include <fmt/format.h>

#include <algorithm>

#include "report/alloc/alloc_rows.h"
#include "report/frames.h"
#include "report/units.h"

namespace penna {
namespace {

// Unknown blocks may come from before the recording began, but hardly more than this many. If there are more, or
// addresses are handed out again without a free in between, the allocator has entry points that are not recorded.
constexpr uint64_t kMostUnknown = 16;

// Whether nothing is missing that could have been the allocation between two frees of one address. Only then is the
// second one called a double free: that is an accusation.
bool is_whole(const Recording& recording, const Allocations& heap, const std::vector<UnmatchedFree>& frees,
              const HealthReport& health) {
  uint64_t unknown = 0;
  for (const UnmatchedFree& row : frees) unknown += row.again ? 0 : row.frees;
  if (unknown > kMostUnknown || heap.total().replaced != 0) return false;
  // Every way to lose an event that health knows: each lost event could have been that allocation.
  const uint64_t missing = health.lost[PENNA_ALLOC] + health.write_lost[PENNA_ALLOC] + health.recorder.torn +
                           health.recorder.holes + health.recorder.damaged + health.recorder.abandoned +
                           health.recorder.unknown + health.missing_chunks + health.unreadable_chunks +
                           health.thrown_away[PENNA_ALLOC];
  return missing == 0 && !health.write_unknown && !recording.damage().any() && !heap.is_sampled();
}

// `again`: the frees of blocks that had been freed before. They are called double frees only if the recording is
// complete.
std::string head_text(const Allocations& heap, uint64_t frees, uint64_t again, bool whole) {
  const BlockFamily& family = heap.family();
  if (frees == 0)
    return fmt::format("Every recorded {}{} was of a recorded {}.", family.free(), family_text(heap), family.block());
  std::string text =
      fmt::format("{}{} of {}s that were not recorded as there",
                  plural_text(static_cast<int64_t>(frees), family.free()), family_text(heap), family.block());
  if (again == 0) return text;
  if (whole)
    return text + fmt::format("; {} freed twice", plural_text(static_cast<int64_t>(again), "block was", "blocks were"));
  return text + fmt::format("; {} of them after another free, but what was allocated in between may be missing here",
                            count_text(static_cast<int64_t>(again)));
}

struct FreeItem : Placed, OfProcesses {
  FreeItem(const Recording& all, const UnmatchedFree& row, uint64_t when_begun, bool whole, Names& its_names)
      : OfProcesses(all, row.processes, row.process),
        recording(all),
        frees(row),
        begin(when_begun),
        is_whole(whole),
        names(its_names) {}
  const Recording& recording;
  UnmatchedFree frees;
  uint64_t begin;  // ticks
  bool is_whole;
  Names& names;
};

Columns<FreeItem> free_columns(bool shows_first) {
  Columns<FreeItem> columns = {
      {{"frees", "FREES", CellKind::kCount}, [](const FreeItem& item) { return item.frees.frees; }},
      {{"what", "WHAT", CellKind::kText},
       [](const FreeItem& item) {
         return Cell{std::string(!item.frees.again ? "not allocated" : item.is_whole ? "freed twice" : "freed again")};
       }},
      {{"address", "EXAMPLE", CellKind::kAddress},
       [](const FreeItem& item) { return static_cast<int64_t>(item.frees.address); }},
      {{"first_ns", "FIRST", CellKind::kDuration},
       [](const FreeItem& item) { return item.recording.time().duration_ns(item.begin, item.frees.time); }},
      {{"freed_before_in", "FREED BEFORE IN", CellKind::kText, true, !shows_first},
       [](const FreeItem& item) { return place_text(item.frees.first.process, item.frees.first.stack, item.names); },
       Fill::kWhenShown}};
  columns.add(holder_columns());
  columns.add(place_columns("STACK THAT FREED"));
  return columns;
}

}  // namespace

Report unmatched_report(const Recording& recording, const Allocations& heap, const UnmatchedFrees& frees,
                        const HealthReport& health, Names& names) {
  const std::vector<UnmatchedFree> rows = frees.rows();
  const bool whole = is_whole(recording, heap, rows, health);
  const uint64_t begin = summarize(recording).first_time;
  std::vector<FreeItem> items;
  uint64_t all = 0, again = 0;
  bool has_stacks = false, shows_first = false;
  for (const UnmatchedFree& row : rows) {
    all += row.frees;
    again += row.again ? row.frees : 0;
    has_stacks |= row.stack.stack != 0;
    shows_first |= row.again && row.first.stack != 0;
    items.emplace_back(recording, row, begin, whole, names);
  }
  Table table;
  table.key = "unmatched";
  table.details_key = "stack";
  table.details_in_row = true;
  free_columns(shows_first).fill(table, std::move(items), [](TableRow& row, FreeItem& item) {
    set_freer(row, item, item.recording, item.frees.thread, item.frees.stack, item.names);
  });
  if (!table.rows.empty()) settle_holder_columns(table, heap);
  Report report;
  report.head.push_back(head_text(heap, all, again, whole));
  report.add(std::move(table));
  if (all != 0 && !has_stacks) report.tail.push_back(no_free_stacks_text(heap));
  return report;
}

}  // namespace penna

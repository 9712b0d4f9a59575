// SPDX-License-Identifier: MIT
// penna report alloc --unmatched: frees of blocks that were not there, by the stack that freed, and which of these
// blocks had been freed before.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "report/alloc/alloc_rows.h"
#include "report/frames.h"
#include "report/units.h"

namespace penna {
namespace {

// So many blocks may come from before the recording began. More of them, or blocks that were given again without a
// free, and the allocator has ways that are not recorded.
constexpr uint64_t kMostUnknown = 16;

// Whether nothing is missing that could have been the allocation between two frees.
bool is_whole(const Recording& recording, const Allocations& heap, const std::vector<UnmatchedFree>& frees,
              const HealthReport& health) {
  uint64_t unknown = 0;
  for (const UnmatchedFree& row : frees) unknown += row.again ? 0 : row.frees;
  if (unknown > kMostUnknown || heap.total().replaced != 0) return false;
  const uint64_t missing = health.lost[PENNA_ALLOC] + health.write_lost[PENNA_ALLOC] + health.recorder.torn +
                           health.recorder.holes + health.recorder.damaged + health.recorder.abandoned +
                           health.recorder.unknown + health.missing_chunks + health.unreadable_chunks +
                           health.thrown_away[PENNA_ALLOC];
  return missing == 0 && !health.write_unknown && !recording.damage().any() && !heap.is_sampled();
}

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

}  // namespace

Report unmatched_report(const Recording& recording, const Allocations& heap, const UnmatchedFrees& frees,
                        const HealthReport& health, Names& names) {
  const auto rows = std::make_shared<const std::vector<UnmatchedFree>>(frees.rows());
  const bool whole = is_whole(recording, heap, *rows, health);
  const uint64_t begin = summarize(recording).first_time;
  Table table;
  table.key = "unmatched";
  table.details_key = "stack";
  table.details_in_row = true;
  table.columns = {{"frees", "FREES", CellKind::kCount}, {"what", "WHAT", CellKind::kText}};
  table.columns.push_back({"address", "EXAMPLE", CellKind::kAddress});
  table.columns.push_back({"first_ns", "FIRST", CellKind::kDuration});
  table.columns.push_back({"freed_before_in", "FREED BEFORE IN", CellKind::kText, true, true});
  add_process_columns(table);
  add_place_columns(table, "STACK THAT FREED");
  uint64_t all = 0, again = 0;
  bool has_stacks = false;
  for (uint32_t i = 0; i < rows->size(); ++i) {
    const UnmatchedFree& row = (*rows)[i];
    all += row.frees;
    again += row.again ? row.frees : 0;
    has_stacks |= row.stack.stack != 0;
    const char* what = !row.again ? "not allocated" : whole ? "freed twice" : "freed again";
    std::vector<Cell> cells = {number(row.frees), std::string(what), static_cast<int64_t>(row.address),
                               recording.time().duration_ns(begin, row.time), std::string()};
    add_process_cells(recording, row.processes, row.process, cells);
    if (row.again && row.first.stack != 0) table.columns[4].machine_only = false;
    add_place_cells(cells);
    table.add(std::move(cells), i);
  }
  if (!table.rows.empty()) settle_process_columns(table, heap);
  table.complete = [rows, &recording, &names](TableRow& shown) {
    const UnmatchedFree& row = (*rows)[shown.source];
    shown.cells[4] = place_text(row.first.process, row.first.stack, names);
    set_freer(shown, recording, row.thread, row.stack, names);
  };
  Report report;
  report.head.push_back(head_text(heap, all, again, whole));
  report.add(std::move(table));
  if (all != 0 && !has_stacks) report.tail.push_back(no_free_stacks_text(heap));
  return report;
}

}  // namespace penna

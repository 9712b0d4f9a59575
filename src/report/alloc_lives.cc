// SPDX-License-Identifier: MIT
// penna report lifetimes and sizes: how long blocks live, who frees them, and how large they are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/alloc_rows.h"
#include "report/frames.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr TableColumn kBar = {"", "", CellKind::kText, false, false, true};

// As long as its share of the largest.
std::string bar(uint64_t value, uint64_t largest) {
  constexpr double kWidth = 30;
  if (value == 0 || largest == 0) return "";
  return std::string(static_cast<size_t>(std::ceil(kWidth * static_cast<double>(value) / static_cast<double>(largest))),
                     '#');
}

void add_life_columns(Table& table) {
  for (const TableColumn& column : {TableColumn{"avg_ns", "AVG", CellKind::kDuration},
                                    {"p50_ns", "P50", CellKind::kDuration},
                                    {"p99_ns", "P99", CellKind::kDuration},
                                    {"max_ns", "MAX", CellKind::kDuration}})
    table.columns.push_back(column);
}

void add_life_cells(const Recording& recording, const Distribution& lives, std::vector<Cell>& cells) {
  const auto add = [&](uint64_t ticks) {
    cells.emplace_back();
    if (lives.count() != 0) cells.back() = ticks_to_ns(recording, ticks);
  };
  add(static_cast<uint64_t>(lives.average()));
  add(lives.percentile(0.5));
  add(lives.percentile(0.99));
  add(lives.max());
}

Table table_of_lives(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names,
                     const AllocationView& view) {
  const auto rows = AllocationRows::make(recording, heap, names, view, false);
  std::vector<BlockLifetimes::OfSlot> of_row(rows->rows().size());
  for (uint32_t slot = 0; slot < heap.stacks().size(); ++slot) of_row[rows->of_slot(slot)].merge(lives.of_slot(slot));
  Table table;
  table.columns = {{"count", "COUNT", CellKind::kCount}, {"freed", "FREED", CellKind::kCount}};
  add_life_columns(table);
  table.columns.push_back({"live_blocks", "LIVE", CellKind::kCount});
  table.columns.push_back({"elsewhere", "ELSEWHERE", CellKind::kCount});
  rows->add_columns(table);
  for (uint32_t i = 0; i < of_row.size(); ++i) {
    const AllocationSums& self = rows->rows()[i].self;
    if (self.allocations == 0) continue;
    std::vector<Cell> cells = {number(self.allocations), number(of_row[i].lives.count())};
    add_life_cells(recording, of_row[i].lives, cells);
    cells.insert(cells.end(), {number(self.live_blocks), number(of_row[i].elsewhere)});
    rows->add_cells(i, cells);
    table.add(std::move(cells), i);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const TableRow& a, const TableRow& b) { return a.cells[0] > b.cells[0]; });
  rows->complete(table);
  return table;
}

Table table_of_freers(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names) {
  const auto rows = AllocationRows::make(recording, heap, names, {}, false);
  Table table;
  table.columns = {{"freed", "FREED", CellKind::kCount}, {"bytes", "BYTES", CellKind::kBytes}};
  add_life_columns(table);
  table.columns.push_back({"freed_by_tid", "TID", CellKind::kNumber, false, true});
  table.columns.push_back({"freed_by", "FREED BY", CellKind::kText});
  rows->add_columns(table);
  table.columns.back().title = "STACK THAT ALLOCATED";
  for (const FreedBy& pair : lives.freed_by()) {
    const RecordedThread& thread = recording.threads()[pair.thread];
    std::vector<Cell> cells = {number(pair.blocks), number(pair.bytes)};
    add_life_cells(recording, pair.lives, cells);
    cells.emplace_back(int64_t{thread.tid});
    cells.emplace_back(thread_label(recording, thread.process, thread.tid));
    rows->add_cells(pair.slot, cells);
    table.add(std::move(cells), pair.slot);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const TableRow& a, const TableRow& b) { return a.cells[0] > b.cells[0]; });
  rows->complete(table);
  return table;
}

Table table_of_decades(const BlockLifetimes& lives) {
  Table table;
  table.key = "histogram";
  table.title = "Lives of freed blocks";
  table.columns = {{"from_ns", "FROM", CellKind::kDuration},
                   {"to_ns", "TO", CellKind::kDuration},
                   {"blocks", "BLOCKS", CellKind::kCount},
                   {"bytes", "BYTES", CellKind::kBytes},
                   kBar};
  const auto& decades = lives.decades();
  uint64_t largest = 0;
  for (const auto& decade : decades) largest = std::max(largest, decade.blocks);
  for (size_t i = 0; i < decades.size(); ++i) {
    if (decades[i].blocks == 0) continue;
    table.add({decades[i].ns, i + 1 < decades.size() ? Cell{decades[i + 1].ns} : Cell{}, number(decades[i].blocks),
               number(decades[i].bytes), bar(decades[i].blocks, largest)});
  }
  return table;
}

Table table_of_sizes(const char* key, const char* title, const std::vector<SizeCounts>& sizes, bool are_powers) {
  Table table;
  table.key = key;
  table.title = title;
  table.columns = {{"size_bytes", "SIZE", CellKind::kCount}};
  if (are_powers) table.columns = {{"from_bytes", "FROM", CellKind::kCount}, {"to_bytes", "TO", CellKind::kCount}};
  for (const TableColumn& column : {TableColumn{"count", "COUNT", CellKind::kCount},
                                    {"bytes", "BYTES", CellKind::kBytes},
                                    {"waste_bytes", "WASTE", CellKind::kBytes},
                                    {"live_blocks", "LIVE BLOCKS", CellKind::kCount},
                                    {"live_bytes", "LIVE", CellKind::kBytes},
                                    kBar})
    table.columns.push_back(column);
  uint64_t largest = 0;
  for (const SizeCounts& counts : sizes) largest = std::max(largest, counts.allocations);
  for (const SizeCounts& counts : sizes) {
    std::vector<Cell> cells = {number(counts.size)};
    if (are_powers) cells.insert(cells.end(), {number(counts.size == 0 ? 0 : 2 * counts.size - 1)});
    cells.insert(cells.end(), {number(counts.allocations), number(counts.bytes), number(counts.waste),
                               number(counts.live_blocks), number(counts.live_bytes)});
    cells.emplace_back(bar(counts.allocations, largest));
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace

Report lifetimes_report(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names,
                        const AllocationView& view, bool freed_by) {
  Report report;
  const HeapTotals total = heap.total();
  if (total.allocations == 0) {
    report.head.push_back(no_allocations_text(heap));
    return report;
  }
  uint64_t freed = 0, elsewhere = 0;
  for (uint32_t slot = 0; slot < heap.stacks().size(); ++slot) {
    freed += lives.of_slot(slot).lives.count();
    elsewhere += lives.of_slot(slot).elsewhere;
  }
  report.head.push_back(fmt::format("{} freed, {} of them by another thread than allocated them; {} never freed",
                                    plural_text(static_cast<int64_t>(freed), "block"),
                                    count_text(static_cast<int64_t>(elsewhere)),
                                    count_text(static_cast<int64_t>(total.live_blocks))));
  report.tables.push_back(freed_by ? table_of_freers(recording, heap, lives, names)
                                   : table_of_lives(recording, heap, lives, names, view));
  report.tables[0].key = "lifetimes";
  report.tables.push_back(table_of_decades(lives));
  return report;
}

Report sizes_report(const Allocations& heap, const BlockSizes& sizes) {
  Report report;
  if (heap.total().allocations == 0) {
    report.head.push_back(no_allocations_text(heap));
    return report;
  }
  SizeCounts sum;
  for (const SizeCounts& power : sizes.by_power()) {
    sum.allocations += power.allocations;
    sum.bytes += power.bytes;
    sum.waste += power.waste;
  }
  report.head.push_back(
      fmt::format("{} of {}; beyond that, {} of waste, as glibc's malloc lays blocks out "
                  "(computed: a multiple of 16 with 8 bytes of its own, at least 32)",
                  plural_text(static_cast<int64_t>(sum.allocations), "allocation"),
                  bytes_text(static_cast<int64_t>(sum.bytes)), bytes_text(static_cast<int64_t>(sum.waste))));
  if (sizes.without_size() != 0)
    report.tail.push_back(
        fmt::format("There are too many different sizes: {} of the others are only in the first table.",
                    plural_text(static_cast<int64_t>(sizes.without_size()), "allocation")));
  report.tables.push_back(table_of_sizes("sizes", "Sizes in bytes", sizes.by_power(), true));
  report.tables.push_back(table_of_sizes("frequent", "The most frequent sizes in bytes", sizes.by_size(), false));
  return report;
}

}  // namespace penna

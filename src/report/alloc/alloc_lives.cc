// SPDX-License-Identifier: MIT
// penna report lifetimes and sizes: how long blocks live, who frees them, and how large they are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "report/alloc/alloc_rows.h"
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
  for (uint32_t slot = 0; slot < heap.slot_count(); ++slot) of_row[rows->of_slot(slot)].merge(lives.of_slot(slot));
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

bool has_stacks(const BlockLifetimes& lives) {
  return std::any_of(lives.freed_by().begin(), lives.freed_by().end(),
                     [](const FreedBy& freer) { return freer.from.stack != 0; });
}

// Of a thread that is the same in several processes.
std::string freer_label(const Recording& recording, uint32_t thread, size_t processes) {
  const std::string& name = recording.threads()[thread].name;
  return fmt::format("{} of {} processes", name.empty() ? "a thread" : name, processes);
}

Table table_of_freers(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names) {
  const auto rows = AllocationRows::make(recording, heap, names, {}, false);
  Table table;
  table.columns = {{"freed", "FREED", CellKind::kCount}, {"bytes", "BYTES", CellKind::kBytes}};
  add_life_columns(table);
  table.columns.push_back({"freed_by_tid", "TID", CellKind::kNumber, false, true});
  table.columns.push_back({"freed_by", "FREED BY", CellKind::kText});
  const size_t place = table.columns.size();
  table.columns.push_back({"freed_in", "IN", CellKind::kText, true, !has_stacks(lives)});
  rows->add_columns(table);
  table.columns.back().title = "STACK THAT ALLOCATED";
  for (uint32_t i = 0; i < lives.freed_by().size(); ++i) {
    const FreedBy& pair = lives.freed_by()[i];
    const RecordedThread& thread = recording.threads()[pair.thread];
    std::vector<Cell> cells = {number(pair.blocks), number(pair.bytes)};
    add_life_cells(recording, pair.lives, cells);
    if (pair.processes.size() > 1) {
      cells.emplace_back();
      cells.emplace_back(freer_label(recording, pair.thread, pair.processes.size()));
    } else {
      cells.emplace_back(int64_t{thread.tid});
      cells.emplace_back(thread_label(recording, thread.process, thread.tid));
    }
    cells.emplace_back(std::string());
    rows->add_cells(pair.slot, cells);
    table.add(std::move(cells), i);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const TableRow& a, const TableRow& b) { return a.cells[0] > b.cells[0]; });
  // The rows of `rows` are the slots.
  rows->complete(table);
  table.complete = [&lives, &names, place, by_slot = table.complete](TableRow& row) {
    const FreedBy& freer = lives.freed_by()[row.source];
    row.cells[place] = place_text(freer.from.process, freer.from.stack, names);
    const uint32_t source = std::exchange(row.source, freer.slot);
    by_slot(row);
    row.source = source;
  };
  return table;
}

// Rows of freers_report(): what one stack freed, or one thread when it has none.
struct Freer {
  uint32_t thread = 0;
  StackOfProcess from{};
  std::set<uint32_t> processes{};
  uint64_t blocks = 0, bytes = 0;
  Distribution lives;
};

std::vector<Freer> freers_of(const BlockLifetimes& lives) {
  std::vector<Freer> freers;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> numbers;
  for (const FreedBy& one : lives.freed_by()) {
    const auto [found, added] =
        numbers.try_emplace({one.from.process, one.from.stack, one.from.stack == 0 ? one.thread : 0}, freers.size());
    if (added) freers.push_back({one.thread, one.from, {}, 0, 0, {}});
    Freer& freer = freers[found->second];
    freer.processes.insert(one.processes.begin(), one.processes.end());
    freer.blocks += one.blocks;
    freer.bytes += one.bytes;
    freer.lives.merge(one.lives);
  }
  return freers;
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

Table table_of_sizes(const char* key, const char* title, const std::vector<SizeCounts>& sizes, bool are_powers,
                     bool has_waste) {
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
    if (has_waste || column.key != "waste_bytes") table.columns.push_back(column);
  uint64_t largest = 0;
  for (const SizeCounts& counts : sizes) largest = std::max(largest, counts.allocations);
  for (const SizeCounts& counts : sizes) {
    std::vector<Cell> cells = {number(counts.size)};
    if (are_powers) cells.insert(cells.end(), {number(counts.size == 0 ? 0 : 2 * counts.size - 1)});
    cells.insert(cells.end(), {number(counts.allocations), number(counts.bytes)});
    if (has_waste) cells.push_back(number(counts.waste));
    cells.insert(cells.end(), {number(counts.live_blocks), number(counts.live_bytes)});
    cells.emplace_back(bar(counts.allocations, largest));
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace

std::string no_free_stacks_text(const Allocations& heap) {
  if (heap.family().space() == BlockSpace::kMaps)
    return "The stacks of these unmappings are not known: it says which thread it was.";
  return "Stacks of frees were not recorded: penna record --free-stacks records them, too.";
}

Report lifetimes_report(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names,
                        const AllocationView& view, bool freed_by) {
  Report report;
  const HeapTotals total = heap.total();
  uint64_t freed = 0, elsewhere = 0;
  for (uint32_t slot = 0; slot < heap.slot_count(); ++slot) {
    freed += lives.of_slot(slot).lives.count();
    elsewhere += lives.of_slot(slot).elsewhere;
  }
  const BlockFamily& family = heap.family();
  report.head.push_back(total.allocations == 0
                            ? no_allocations_text(recording, heap)
                            : fmt::format("{}{} {}, {} of them by another thread than {} them; {} {} {}{}",
                                          plural_text(static_cast<int64_t>(freed), family.block()), family_text(heap),
                                          family.freed(), count_text(static_cast<int64_t>(elsewhere)),
                                          family.space() == BlockSpace::kMaps ? "mapped" : "allocated",
                                          count_text(static_cast<int64_t>(total.live_blocks)),
                                          reads_range(recording) ? "not" : "never", family.freed(),
                                          reads_range(recording) ? " in the range" : ""));
  report.tables.push_back(freed_by ? table_of_freers(recording, heap, lives, names)
                                   : table_of_lives(recording, heap, lives, names, view));
  report.tables[0].key = "lifetimes";
  report.add(table_of_decades(lives));
  if (freed_by && !lives.freed_by().empty() && !has_stacks(lives)) report.tail.push_back(no_free_stacks_text(heap));
  return report;
}

Report freers_report(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names) {
  Report report;
  const auto freers = std::make_shared<const std::vector<Freer>>(freers_of(lives));
  Table table;
  table.key = "freers";
  table.columns = {{"freed", "FREED", CellKind::kCount}, {"bytes", "BYTES", CellKind::kBytes}};
  add_life_columns(table);
  add_process_columns(table);
  table.details_key = "stack";
  table.details_in_row = true;
  add_place_columns(table, "STACK THAT FREED");
  uint64_t blocks = 0, bytes = 0;
  for (uint32_t i = 0; i < freers->size(); ++i) {
    const Freer& freer = (*freers)[i];
    blocks += freer.blocks;
    bytes += freer.bytes;
    std::vector<Cell> cells = {number(freer.blocks), number(freer.bytes)};
    add_life_cells(recording, freer.lives, cells);
    add_process_cells(recording, static_cast<uint32_t>(freer.processes.size()), *freer.processes.begin(), cells);
    add_place_cells(cells);
    table.add(std::move(cells), i);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const TableRow& a, const TableRow& b) { return a.cells[0] > b.cells[0]; });
  settle_process_columns(table, heap);
  table.complete = [freers, &recording, &names](TableRow& row) {
    const Freer& freer = (*freers)[row.source];
    if (freer.from.stack == 0 && freer.processes.size() > 1)
      row.details = {{fmt::format("({})", freer_label(recording, freer.thread, freer.processes.size())), ""}};
    else
      set_freer(row, recording, freer.thread, freer.from, names);
  };
  report.head.push_back(
      heap.total().allocations == 0
          ? no_allocations_text(recording, heap)
          : fmt::format("{} of {}{} {}", plural_text(static_cast<int64_t>(blocks), heap.family().block()),
                        bytes_text(static_cast<int64_t>(bytes)), family_text(heap), heap.family().freed()));
  const bool any = !table.rows.empty();
  report.add(std::move(table));
  if (any && !has_stacks(lives)) report.tail.push_back(no_free_stacks_text(heap));
  return report;
}

namespace {

// The file of an allocator in libc's place, in a process that allocated; of others than these it is not known.
std::string other_allocator(const Recording& recording, const Allocations& heap) {
  for (uint32_t process = 0; process < heap.processes().size(); ++process) {
    if (heap.processes()[process].allocations == 0) continue;
    for (const Module& module : recording.processes()[process].modules)
      if (is_allocator_file(module.path)) return file_name_of(module.path);
  }
  return "";
}

}  // namespace

Report sizes_report(const Recording& recording, const Allocations& heap, const BlockSizes& sizes) {
  Report report;
  SizeCounts sum;
  for (const SizeCounts& power : sizes.by_power()) {
    sum.allocations += power.allocations;
    sum.bytes += power.bytes;
    sum.waste += power.waste;
  }
  std::string head =
      fmt::format("{} of {}{}", plural_text(static_cast<int64_t>(sum.allocations), heap.family().allocation()),
                  bytes_text(static_cast<int64_t>(sum.bytes)), family_text(heap));
  const std::string other = heap.family().is_heap() ? other_allocator(recording, heap) : "";
  const bool has_waste = heap.family().is_heap() && other.empty();
  if (!other.empty()) head += fmt::format("; what {} adds to them is not known", other);
  if (has_waste)
    head += fmt::format(
        "; beyond that, {} of waste, as glibc's malloc lays blocks out "
        "(computed: a multiple of 16 with 8 bytes of its own, at least 32)",
        bytes_text(static_cast<int64_t>(sum.waste)));
  report.head.push_back(heap.total().allocations == 0 ? no_allocations_text(recording, heap) : std::move(head));
  if (sizes.without_size() != 0)
    report.tail.push_back(
        fmt::format("There are too many different sizes: {} of the others are only in the first table.",
                    plural_text(static_cast<int64_t>(sizes.without_size()), "allocation")));
  report.add(table_of_sizes("sizes", "Sizes in bytes", sizes.by_power(), true, has_waste));
  report.add(table_of_sizes("frequent", "The most frequent sizes in bytes", sizes.by_size(), false, has_waste));
  return report;
}

}  // namespace penna

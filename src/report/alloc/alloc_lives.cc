// SPDX-License-Identifier: MIT
// penna report lifetimes: how long blocks live, and which threads free them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "report/alloc/alloc_rows.h"
#include "report/alloc/bar.h"
#include "report/frames.h"
#include "report/units.h"

namespace penna {
namespace {

// How long the blocks of a row lived: in ticks, for freed blocks. Without any, cells are empty, not 0.
struct Lives {
  const Recording& recording;
  const Distribution& lives;
  Cell ns(uint64_t ticks) const { return lives.count() == 0 ? Cell{} : Cell{ticks_to_ns(recording, ticks)}; }
};

Columns<Lives> life_columns() {
  return {
      {minor({"avg_ns", "AVG", CellKind::kDuration}),
       [](const Lives& of) { return of.ns(static_cast<uint64_t>(of.lives.average())); }},
      {minor({"p50_ns", "P50", CellKind::kDuration}), [](const Lives& of) { return of.ns(of.lives.percentile(0.5)); }},
      {{"p99_ns", "P99", CellKind::kDuration}, [](const Lives& of) { return of.ns(of.lives.percentile(0.99)); }},
      {{"max_ns", "MAX", CellKind::kDuration}, [](const Lives& of) { return of.ns(of.lives.max()); }}};
}

// Freed blocks: their number and size, and how long they had lived.
struct FreedBlocks : Lives {
  uint64_t blocks, bytes;
};

Columns<FreedBlocks> freed_columns() {
  Columns<FreedBlocks> columns = {
      {{"freed", "FREED", CellKind::kCount}, [](const FreedBlocks& of) { return of.blocks; }},
      {{"bytes", "BYTES", CellKind::kBytes}, [](const FreedBlocks& of) { return of.bytes; }}};
  columns.add(life_columns());
  return columns;
}

// By the first column, most first; equal rows stay in order of first appearance.
void sort_by_first_number(Table& table) {
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const TableRow& a, const TableRow& b) { return a.cells[0] > b.cells[0]; });
}

struct LifeItem : AllocationItem, Lives {
  uint64_t elsewhere;
};

Columns<LifeItem> life_item_columns(const AllocationRows& rows) {
  Columns<LifeItem> columns = {
      {{"count", "COUNT", CellKind::kCount}, [](const LifeItem& item) { return item.self().allocations; }},
      {{"freed", "FREED", CellKind::kCount}, [](const LifeItem& item) { return item.lives.count(); }}};
  columns.add(life_columns());
  columns.add(
      {{{"live_blocks", "LIVE", CellKind::kCount}, [](const LifeItem& item) { return item.self().live_blocks; }},
       {{"elsewhere", "ELSEWHERE", CellKind::kCount}, [](const LifeItem& item) { return item.elsewhere; }}});
  columns.add(rows.columns());
  return columns;
}

// Rows may cover several slots of the analysis (--by function): their distributions are merged.
Table table_of_lives(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names,
                     const AllocationView& view) {
  const auto rows = AllocationRows::make(recording, heap, names, view, false);
  const auto of_row = std::make_shared<std::vector<BlockLifetimes::OfSlot>>(rows->rows().size());
  // Nothing is suppressed here, so each slot has a row.
  for (uint32_t slot = 0; slot < heap.slot_count(); ++slot) (*of_row)[rows->of_slot(slot)].merge(lives.of_slot(slot));
  std::vector<LifeItem> items;
  for (uint32_t i = 0; i < of_row->size(); ++i)
    if (rows->rows()[i].self.allocations != 0)
      items.push_back({rows->item(i), {recording, (*of_row)[i].lives}, (*of_row)[i].elsewhere});
  Table table;
  rows->declare(table);
  life_item_columns(*rows).fill(table, std::move(items),
                                [](TableRow& row, LifeItem& item) { AllocationRows::describe(row, item); });
  sort_by_first_number(table);
  rows->settle(table);
  return table;
}

bool has_stacks(const BlockLifetimes& lives) {
  return std::any_of(lives.freed_by().begin(), lives.freed_by().end(),
                     [](const FreedBy& freer) { return freer.from.stack != 0; });
}

// "worker of 3 processes": stacks that read the same in several processes are one row, and so are their threads.
std::string freer_label(const Recording& recording, uint32_t thread, size_t processes) {
  const std::string& name = recording.threads()[thread].name;
  return fmt::format("{} of {} processes", name.empty() ? "a thread" : name, processes);
}

// An allocating stack, with who freed its blocks and where.
struct FreedByItem : AllocationItem, FreedBlocks {
  const FreedBy& freer;
  Names& names;
  const RecordedThread& thread() const { return recording.threads()[freer.thread]; }
  bool has_several_processes() const { return freer.processes.size() > 1; }
};

Columns<FreedByItem> freed_by_columns(const AllocationRows& rows, bool shows_place) {
  Columns<FreedByItem> columns;
  columns.add(freed_columns());
  columns.add(
      {{{"freed_by_tid", "TID", CellKind::kNumber, false, true},
        [](const FreedByItem& item) {
          return item.has_several_processes() ? Cell{} : Cell{int64_t{item.thread().tid}};
        }},
       {{"freed_by", "FREED BY", CellKind::kText},
        [](const FreedByItem& item) {
          if (item.has_several_processes())
            return Cell{freer_label(item.recording, item.freer.thread, item.freer.processes.size())};
          return Cell{thread_label(item.recording, item.thread().process, item.thread().tid)};
        }},
       {{"freed_in", "IN", CellKind::kText, true, !shows_place},
        [](const FreedByItem& item) { return place_text(item.freer.from.process, item.freer.from.stack, item.names); },
        Fill::kWhenShown}});
  columns.add(rows.columns("STACK THAT ALLOCATED"));
  return columns;
}

// One row per pair of an allocating stack and a freeing stack (or thread).
Table table_of_freers(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names) {
  const auto rows = AllocationRows::make(recording, heap, names, {}, false);
  std::vector<FreedByItem> items;
  for (const FreedBy& one : lives.freed_by())  // the rows of `rows` are the slots
    items.push_back({rows->item(one.slot), {{recording, one.lives}, one.blocks, one.bytes}, one, names});
  Table table;
  rows->declare(table);
  freed_by_columns(*rows, has_stacks(lives)).fill(table, std::move(items), [](TableRow& row, FreedByItem& item) {
    AllocationRows::describe(row, item);
  });
  sort_by_first_number(table);
  rows->settle(table);
  return table;
}

// Rows of freers_report(): what one stack freed, or, if stacks of frees were not recorded, one thread.
struct Freer {
  uint32_t thread = 0;
  StackOfProcess from{};
  std::set<uint32_t> processes{};
  uint64_t blocks = 0, bytes = 0;
  Distribution lives;
};

// Sums over the allocating stacks: by freeing stack or, if unknown, by thread.
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

struct FreerItem : Placed, OfProcesses, FreedBlocks {
  std::shared_ptr<const Freer> freer;  // owns `lives`
  Names& names;
};

Columns<FreerItem> freer_columns() {
  Columns<FreerItem> columns;
  columns.add(freed_columns());
  columns.add(holder_columns());
  columns.add(place_columns("STACK THAT FREED"));
  return columns;
}

// Without a stack, shows the thread instead; for several processes, their number.
void describe_freer(TableRow& row, FreerItem& item) {
  const Freer& freer = *item.freer;
  if (freer.from.stack == 0 && freer.processes.size() > 1)
    row.details = {{fmt::format("({})", freer_label(item.recording, freer.thread, freer.processes.size())), ""}};
  else
    set_freer(row, item, item.recording, freer.thread, freer.from, item.names);
}

struct DecadeItem {
  BlockLifetimes::Decade decade;
  Cell end;          // nanoseconds; empty: no end
  uint64_t largest;  // number of blocks in the largest decade
};

Columns<DecadeItem> decade_columns() {
  return {{{"from_ns", "FROM", CellKind::kDuration}, [](const DecadeItem& item) { return item.decade.ns; }},
          {{"to_ns", "TO", CellKind::kDuration}, [](const DecadeItem& item) { return item.end; }},
          {{"blocks", "BLOCKS", CellKind::kCount}, [](const DecadeItem& item) { return item.decade.blocks; }},
          {{"bytes", "BYTES", CellKind::kBytes}, [](const DecadeItem& item) { return item.decade.bytes; }},
          {kBarColumn, [](const DecadeItem& item) { return bar_text(item.decade.blocks, item.largest); }}};
}

// Empty decades are left out. The last one is open-ended.
Table table_of_decades(const BlockLifetimes& lives) {
  const auto& decades = lives.decades();
  uint64_t largest = 0;
  for (const auto& decade : decades) largest = std::max(largest, decade.blocks);
  std::vector<DecadeItem> items;
  for (size_t i = 0; i < decades.size(); ++i)
    if (decades[i].blocks != 0)
      items.push_back({decades[i], i + 1 < decades.size() ? Cell{decades[i + 1].ns} : Cell{}, largest});
  Table table;
  table.key = "histogram";
  table.title = "Lives of freed blocks";
  decade_columns().fill(table, std::move(items));
  return table;
}

}  // namespace

std::string no_free_stacks_text(const Allocations& heap) {
  if (heap.family().space() == BlockSpace::kMaps)
    return "The stacks of these unmappings are unknown; the thread is shown instead.";
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
  std::vector<FreerItem> items;
  uint64_t blocks = 0, bytes = 0;
  std::vector<Freer> freers = freers_of(lives);
  for (Freer& one : freers) {
    const auto freer = std::make_shared<const Freer>(std::move(one));
    blocks += freer->blocks;
    bytes += freer->bytes;
    const OfProcesses holders(recording, static_cast<uint32_t>(freer->processes.size()), *freer->processes.begin());
    items.push_back({{}, holders, {{recording, freer->lives}, freer->blocks, freer->bytes}, freer, names});
  }
  Table table;
  table.key = "freers";
  table.details_key = "stack";
  table.details_in_row = true;
  freer_columns().fill(table, std::move(items), describe_freer);
  sort_by_first_number(table);
  settle_holder_columns(table, heap);
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

}  // namespace penna

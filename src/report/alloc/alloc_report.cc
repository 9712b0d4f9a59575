// SPDX-License-Identifier: MIT
// penna report alloc, leaks, temp and peak: what was allocated where, and what of it was never freed, freed at once, or
// live at the peak.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/alloc/alloc_rows.h"
#include "report/frames.h"
#include "report/units.h"

namespace penna {
namespace {

std::string counted(uint64_t value, const char* noun) { return plural_text(static_cast<int64_t>(value), noun); }
std::string bytes(uint64_t value) { return bytes_text(static_cast<int64_t>(value)); }

// A sum. If rows contain other rows (functions those that they called) a second column has the totals.
struct SumColumn {
  Column<AllocationItem> self, total;
  bool is_own_peak = false, in_groups = true;
};

// All columns of sums are declared here: their keys are part of the CSV and JSON formats.
template <uint64_t AllocationSums::*kSum>
SumColumn sum_column(std::string_view key, std::string_view title, CellKind kind, std::string_view total_key,
                     std::string_view total_title, bool total_shown = false) {
  return {{{key, title, kind}, [](const AllocationItem& item) { return item.self().*kSum; }},
          {{total_key, total_title, kind, false, !total_shown},
           [](const AllocationItem& item) { return item.total().*kSum; }}};
}

constexpr std::string_view kSorted = "sorted by SELF; --sort total: with what it called";

SumColumn bytes_column() {
  return sum_column<&AllocationSums::bytes>("bytes", "BYTES", CellKind::kBytes, "total_bytes", "TOTAL", true);
}
SumColumn count_column() {
  return sum_column<&AllocationSums::allocations>("count", "COUNT", CellKind::kCount, "total_count", "TOTAL COUNT");
}
SumColumn live_column() {
  return sum_column<&AllocationSums::live_bytes>("live_bytes", "LIVE", CellKind::kBytes, "total_live_bytes",
                                                 "TOTAL LIVE");
}
SumColumn peak_column() {
  return sum_column<&AllocationSums::peak_bytes>("peak_bytes", "PEAK", CellKind::kBytes, "total_peak_bytes",
                                                 "TOTAL PEAK");
}
SumColumn temp_column() {
  return sum_column<&AllocationSums::temporary>("temp", "TEMP", CellKind::kCount, "total_temp", "TOTAL TEMP");
}
// Keeps the column, as its key is part of the format, but empties its cells.
SumColumn without_value(SumColumn column) {
  column.self.value = column.total.value = [](const AllocationItem&) { return Cell{}; };
  return column;
}
// The first column of a table is named after the table's subject, and its total is also shown in text.
SumColumn main_column(SumColumn column, std::string_view key, std::string_view title) {
  column.self.column.key = key;
  column.self.column.title = title;
  column.total.column.title = "TOTAL";
  column.total.column.machine_only = false;
  return column;
}

Cell share_of_temporary(const AllocationSums& sums) {
  if (sums.allocations == 0) return {};
  return 100 * static_cast<double>(sums.temporary) / static_cast<double>(sums.allocations);
}

// Sums first, then totals, then what the row is: this order is that of CSV.
Columns<AllocationItem> columns_of(const AllocationRows& rows, const std::vector<SumColumn>& sums) {
  Columns<AllocationItem> columns;
  for (const SumColumn& sum : sums) columns.add(sum.self);
  if (rows.have_totals())
    for (const SumColumn& sum : sums) columns.add(sum.total);
  columns.add(rows.columns());
  return columns;
}

// Whether a row is shown: it has a value in the first column or in the other one. A stack that allocated only blocks of
// 0 bytes is shown as well: its blocks exist.
bool is_shown(const AllocationItem& item, const Column<AllocationItem>& first, const Column<AllocationItem>& other) {
  const auto value = [&](const Column<AllocationItem>& column) { return std::get<int64_t>(column.value(item)); };
  if (value(first) != 0 || value(other) != 0) return true;
  const AllocationSums& sums = item.rows->have_totals() ? item.total() : item.self();
  return first.column.kind == CellKind::kBytes && sums.bytes == 0 && sums.allocations != 0;
}

// The rows with a value in the first column, most first. `second`: the index of a column that counts too if OWN PEAK is
// known, and breaks ties; 0: none.
Table sums_table(const AllocationRows& rows, std::vector<SumColumn> sums, size_t second = 0) {
  Table table;
  rows.declare(table);
  // Removes columns that have no sum over a group.
  if (!rows.are_stacks())
    std::erase_if(
        sums, [&](const SumColumn& column) { return column.is_own_peak ? !rows.know_own_peak() : !column.in_groups; });
  const bool totals = rows.have_totals();
  TableColumn& first = sums[0].self.column;
  // SELF and TOTAL belong together: the pair replaces the single number.
  if (totals) {
    first.key = first.kind == CellKind::kBytes ? "self_bytes" : "self_count";
    first.title = "SELF";
    table.order = kSorted;
  }
  const size_t other_number = totals ? sums.size() : rows.know_own_peak() ? second : 0;
  const Column<AllocationItem>& other = totals ? sums[0].total : sums[other_number].self;
  std::vector<AllocationItem> items;
  for (uint32_t i = 0; i < rows.rows().size(); ++i)
    if (AllocationItem item = rows.item(i); is_shown(item, sums[0].self, other)) items.push_back(std::move(item));
  columns_of(rows, sums).fill(table, std::move(items), AllocationRows::describe);
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const TableRow& a, const TableRow& b) {
    return a.cells[0] != b.cells[0] ? a.cells[0] > b.cells[0] : a.cells[other_number] > b.cells[other_number];
  });
  rows.settle(table);
  return table;
}

// " after 12 ms", since the start; empty at the start.
std::string after_text(const Recording& recording, uint64_t time) {
  const uint64_t start = summarize(recording).first_time;
  return time > start ? " after " + duration_text(recording.time().duration_ns(start, time)) : "";
}

// The peak of all processes together is not any one process's peak, and the text says so.
std::string peak_text(const Recording& recording, const Allocations& heap) {
  const HeapTotals total = heap.total();
  std::string text =
      fmt::format("{} in {} at the peak", bytes(total.peak_bytes), counted(total.peak_blocks, heap.family().block()));
  if (busy_processes(heap) > 1) text += " of all processes together";
  return text + after_text(recording, total.peak_time);
}

// With several processes: which one held the most, and when. Empty: there is only one.
std::string largest_process_text(const Recording& recording, const Allocations& heap) {
  if (busy_processes(heap) < 2) return "";
  const auto largest =
      std::max_element(heap.processes().begin(), heap.processes().end(),
                       [](const HeapTotals& a, const HeapTotals& b) { return a.peak_bytes < b.peak_bytes; });
  const Process& process = recording.processes()[static_cast<size_t>(largest - heap.processes().begin())].process;
  return fmt::format("the most that one process held: {} in {}, by {} ({}){} (--by process)",
                     bytes(largest->peak_bytes), counted(largest->peak_blocks, heap.family().block()),
                     process_name(process), process.pid, after_text(recording, largest->peak_time));
}

// A stack with blocks that were not freed. `begin`: ticks from which FIRST and LAST count.
struct LeakItem : Placed, OfProcesses {
  LeakItem(const Recording& all, const Leak& of, uint64_t when_begun, Names& its_names)
      : OfProcesses(all, of.processes, of.holder), recording(all), leak(of), begin(when_begun), names(its_names) {}
  Cell since_start(uint64_t ticks) const { return recording.time().duration_ns(begin, ticks); }

  const Recording& recording;
  Leak leak;
  uint64_t begin;  // ticks
  Names& names;
};

Columns<LeakItem> leak_columns() {
  Columns<LeakItem> columns = {
      {{"leaked_bytes", "LEAKED", CellKind::kBytes}, [](const LeakItem& item) { return item.leak.bytes; }},
      {{"blocks", "BLOCKS", CellKind::kCount}, [](const LeakItem& item) { return item.leak.blocks; }},
      {minor({"largest_bytes", "LARGEST", CellKind::kBytes}),
       [](const LeakItem& item) { return item.leak.sizes.empty() ? Cell{} : number(item.leak.sizes.front()); }},
      {{"first_ns", "FIRST", CellKind::kDuration, false, true},
       [](const LeakItem& item) { return item.since_start(item.leak.first_time); }},
      {{"last_ns", "LAST", CellKind::kDuration, false, true},
       [](const LeakItem& item) { return item.since_start(item.leak.last_time); }},
      {{"example", "EXAMPLE", CellKind::kAddress, false, true},
       [](const LeakItem& item) { return static_cast<int64_t>(item.leak.example); }}};
  columns.add(holder_columns());
  columns.add(place_columns("STACK"));
  return columns;
}

// One row per stack of leaked blocks, without suppressed ones. It has more columns than a stack's sums: the largest
// blocks, the first and the last, an address to look for in a core.
Table leaks_by_stack(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view) {
  const uint64_t begin = summarize(recording).first_time;
  std::vector<LeakItem> items;
  for (const Leak& leak : heap.leaks())
    if (view.suppressor == nullptr || !view.suppressor->suppresses(leak.process, leak.stack))
      items.emplace_back(recording, leak, begin, names);
  Table table;
  table.details_key = "stack";
  table.details_in_row = true;
  leak_columns().fill(table, std::move(items), [](TableRow& row, LeakItem& item) {
    set_stack(row, item, item.leak.process, item.leak.stack, item.names);
  });
  settle_holder_columns(table, heap);
  return table;
}

Report report_of(const char* key, std::string head, Table table) {
  Report report;
  report.head.push_back(std::move(head));
  table.key = key;
  report.tables.push_back(std::move(table));
  return report;
}

// What "temporary" means here; --within changes it.
std::string temporary_text(const Allocations& heap) {
  const bool maps = heap.family().space() == BlockSpace::kMaps;
  if (heap.within() == 1)
    return fmt::format("{} by their thread before it {} anything else", heap.family().freed(),
                       maps ? "mapped" : "allocated");
  return fmt::format("{} by their thread before it had {} {} more {}s", heap.family().freed(),
                     maps ? "mapped" : "allocated", heap.within(), heap.family().block());
}

}  // namespace

// The error is that of a Poisson number of samples; it applies to the overall sum. A row has fewer samples, and a
// larger error.
std::string sample_text(const Allocations& heap) {
  const uint64_t samples = heap.total().samples;
  if (!heap.is_estimated()) return fmt::format("from the sample only: {} recorded", counted(samples, "allocation"));
  return fmt::format(
      "estimated from a sample of {}: in 19 cases of 20, sums of bytes are right to {:.1f} %, those of a part of them "
      "to "
      "less",
      counted(samples, "allocation"), 100 * std::min(1.0, kTwoSided95 * sampling_error(samples)));
}

std::string family_text(const Allocations& heap) {
  return heap.family().is_heap() ? "" : fmt::format(" of the family {}", heap.family().name());
}

std::string end_text(const Recording& recording, const Allocations& heap) {
  const bool several = busy_processes(heap) > 1;
  if (reads_range(recording))
    return several ? "at the end of the range or of their process" : "at the end of the range";
  return several ? "at the end of each process" : "at the end";
}

// Why there are none: not recorded, outside of the range, or filtered out.
std::string no_allocations_text(const Recording& recording, const Allocations& heap) {
  const HeapTotals total = heap.total();
  const std::string noun = heap.family().allocation() + std::string("s") + family_text(heap);
  if (total.left_out == 0 && (recording.session().classes & kAllocEvents) == 0)
    return fmt::format("No {} were recorded: record them with -k alloc.", noun);
  if (total.left_out == 0 && reads_range(recording)) return fmt::format("There are no {} in the range.", noun);
  if (total.left_out == 0) return fmt::format("No {} were recorded.", noun);
  return fmt::format("The filters leave out all {}{}.", counted(total.left_out, heap.family().allocation()),
                     family_text(heap));
}

// Mappings and pools are never added to the heap: a pool lies in blocks or mappings that would be counted twice.
std::string other_families_text(const Recording& recording, const Allocations& heap) {
  std::vector<std::string> parts;
  std::vector<std::string> names;
  const OtherFamilies& others = heap.others();
  if (others.mappings != 0) {
    parts.push_back(counted(others.mappings, "mapping"));
    names.emplace_back("maps");
  }
  if (others.pool_allocations != 0) {
    const std::vector<std::string> pools = pool_names(recording);
    parts.push_back(
        fmt::format("{} in {}", counted(others.pool_allocations, "allocation"), counted(pools.size(), "pool")));
    constexpr size_t kShown = 4;
    for (size_t i = 0; i < pools.size() && i < kShown; ++i) names.push_back("pool:" + pools[i]);
    if (pools.size() > kShown) names.emplace_back("...");
  }
  if (parts.empty()) return "";
  return fmt::format("Not in these numbers: {}; --family shows them: {}.", fmt::join(parts, ", "),
                     fmt::join(names, ", "));
}

AllocationSums leaked(const Allocations& heap, LeakSuppressor* suppressor) {
  AllocationSums left;
  for (const StackAllocations& stack : heap.stacks())
    if (stack.live_blocks != 0 && (suppressor == nullptr || !suppressor->suppresses(stack.process, stack.stack)))
      left.add(stack);
  return left;
}

Report alloc_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view) {
  const HeapTotals total = heap.total();
  const BlockFamily& family = heap.family();
  const std::string temporary =
      heap.knows_temporary() ? fmt::format(", {} temporary", count_text(static_cast<int64_t>(total.temporary))) : "";
  std::string head =
      fmt::format("{} of {} in all{}{}; {}; {} in {} live {}", counted(total.allocations, family.allocation()),
                  bytes(total.bytes), family_text(heap), temporary, peak_text(recording, heap), bytes(total.live_bytes),
                  counted(total.live_blocks, family.block()), end_text(recording, heap));
  if (total.unmatched_frees != 0)
    head +=
        fmt::format("; {} of {}s whose {} {} (--unmatched)", counted(total.unmatched_frees, family.free()),
                    family.block(), family.is_heap() || family.space() == BlockSpace::kPool ? "allocation" : "mapping",
                    reads_range(recording) ? "is not in the range" : "was not recorded");
  if (total.inherited_frees != 0)
    head += fmt::format("; {} of {}s that forked processes had of their parents",
                        counted(total.inherited_frees, family.free()), family.block());
  if (total.allocations == 0) head = no_allocations_text(recording, heap);
  SumColumn blocks = sum_column<&AllocationSums::live_blocks>("live_blocks", "BLOCKS", CellKind::kCount, "", "");
  blocks.in_groups = false;
  const auto rows = AllocationRows::make(recording, heap, names, view, false);
  return report_of("alloc", std::move(head),
                   sums_table(*rows, {bytes_column(), count_column(), live_column(), blocks, peak_column(),
                                      heap.knows_temporary() ? temp_column() : without_value(temp_column())}));
}

namespace {

// Processes that were killed, replaced by exec or left running never got to free what they hold: blocks live at that
// point need not be leaks. One sentence each; with many only their number.
std::vector<std::string> sudden_ends(const Recording& recording, const Allocations& heap) {
  constexpr size_t kMost = 3;
  std::vector<std::string> sentences;
  for (const ProcessSummary& process : summarize(recording).processes) {
    const bool sudden =
        process.how == EndKind::kSignaled || process.how == EndKind::kExec || process.how == EndKind::kStopped;
    const uint64_t blocks = heap.processes()[process.process].live_blocks;
    if (!process.ended || !sudden || blocks == 0) continue;
    sentences.push_back(fmt::format("{} ({}) {}{}: what it held then, {}, may be no leaks.", process.name, process.pid,
                                    process.how == EndKind::kSignaled ? "was " : "", process.end_text,
                                    counted(blocks, heap.family().block())));
  }
  if (sentences.size() > kMost)
    sentences = {
        fmt::format("{} processes were killed, became other programs or went on: what they held then may be no "
                    "leaks. 'penna report threads' shows how they ended.",
                    sentences.size())};
  return sentences;
}

// `suppressed`: how much of it is suppressed; may be empty.
std::string leaks_head(const Recording& recording, const Allocations& heap, const AllocationSums& left,
                       const std::string& suppressed) {
  const HeapTotals total = heap.total();
  const BlockFamily& family = heap.family();
  if (total.allocations == 0) return no_allocations_text(recording, heap);
  if (left.live_blocks != 0)
    return fmt::format("{} in {} not {} {}, of {} in {}{}", bytes(left.live_bytes),
                       counted(left.live_blocks, family.block()), family.freed(), end_text(recording, heap),
                       bytes(total.bytes), counted(total.allocations, family.allocation()), family_text(heap));
  if (!suppressed.empty()) return fmt::format("Nothing leaked{} but {}.", family_text(heap), suppressed);
  return fmt::format("Nothing leaked{}: all {} were {}.", family_text(heap),
                     counted(total.allocations, fmt::format("recorded {}", family.block()).c_str()), family.freed());
}

}  // namespace

// What is suppressed is subtracted from the numbers, and mentioned: "nothing leaked" must not hide it.
Report leaks_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view) {
  const AllocationSums left = leaked(heap, view.suppressor);
  const HeapTotals total = heap.total();
  std::string suppressed;
  if (left.live_blocks != total.live_blocks)
    suppressed = fmt::format("{} of {} suppressed: --no-suppressions shows them",
                             counted(total.live_blocks - left.live_blocks, heap.family().block()),
                             bytes(total.live_bytes - left.live_bytes));
  Report report = report_of("leaks", leaks_head(recording, heap, left, suppressed), {});
  if (!suppressed.empty() && left.live_blocks != 0) report.head.push_back(suppressed);
  if (view.by) {
    const SumColumn blocks = sum_column<&AllocationSums::live_blocks>("blocks", "BLOCKS", CellKind::kCount,
                                                                      "total_blocks", "TOTAL BLOCKS", true);
    SumColumn main = main_column(live_column(), "leaked_bytes", "LEAKED");
    main.total.column.key = "total_bytes";
    report.tables[0] = sums_table(*AllocationRows::make(recording, heap, names, view, true), {main, blocks});
  } else {
    report.tables[0] = leaks_by_stack(recording, heap, names, view);
  }
  report.tables[0].key = "leaks";
  if (left.live_blocks != 0 && !reads_range(recording)) report.tail = sudden_ends(recording, heap);
  return report;
}

Report temp_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view) {
  const HeapTotals total = heap.total();
  std::string head =
      fmt::format("{} of {}{} temporary, {} of them: {}", count_text(static_cast<int64_t>(total.temporary)),
                  counted(total.allocations, heap.family().allocation()), family_text(heap),
                  bytes(total.temporary_bytes), temporary_text(heap));
  if (total.allocations == 0) {
    head = no_allocations_text(recording, heap);
  } else if (!heap.knows_temporary()) {
    head = kNoTemporaryOfSample;
    head[0] = 'W';
    head += '.';
  }
  const SumColumn data = sum_column<&AllocationSums::temporary_bytes>("temp_bytes", "BYTES", CellKind::kBytes,
                                                                      "total_temp_bytes", "TOTAL BYTES");
  const SumColumn share = {{{"percent", "OF ITS OWN", CellKind::kPercent},
                            [](const AllocationItem& item) { return share_of_temporary(item.self()); }},
                           {{"total_percent", "OF ITS TOTAL", CellKind::kPercent, false, true},
                            [](const AllocationItem& item) { return share_of_temporary(item.total()); }}};
  const auto rows = AllocationRows::make(recording, heap, names, view, false);
  return report_of("temp", std::move(head),
                   sums_table(*rows, {main_column(temp_column(), "temp", "TEMP"), data, share, count_column()}));
}

// Rows by what they held at the overall peak; OWN PEAK is the row's own, which may be at another time.
Report peak_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view) {
  const SumColumn blocks = sum_column<&AllocationSums::peak_blocks>("peak_blocks", "BLOCKS", CellKind::kCount,
                                                                    "total_peak_blocks", "TOTAL BLOCKS");
  SumColumn own = sum_column<&AllocationSums::own_peak_bytes>("own_peak_bytes", "OWN PEAK", CellKind::kBytes, "", "");
  own.is_own_peak = true;
  const auto rows = AllocationRows::make(recording, heap, names, view, false);
  Report report = report_of(
      "peak",
      heap.total().allocations == 0
          ? no_allocations_text(recording, heap)
          : peak_text(recording, heap) + (heap.family().is_heap() ? "" : ",") + family_text(heap),
      sums_table(*rows, {main_column(peak_column(), "peak_bytes", "PEAK"), blocks, own, live_column(), count_column()},
                 2));
  if (std::string largest = largest_process_text(recording, heap); !largest.empty())
    report.head.push_back(std::move(largest));
  return report;
}

}  // namespace penna

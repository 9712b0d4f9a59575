// SPDX-License-Identifier: MIT
// penna report sizes: how large blocks are.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/alloc/bar.h"
#include "report/columns.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

struct SizeItem {
  SizeCounts counts;
  uint64_t largest;  // allocations of the most frequent size
};

// `are_powers`: rows are ranges from a power of two to below the next; else single sizes. `has_waste`: the allocator is
// glibc's malloc, whose layout is known.
Columns<SizeItem> size_columns(bool are_powers, bool has_waste) {
  Columns<SizeItem> columns;
  columns.add({{{are_powers ? "from_bytes" : "size_bytes", are_powers ? "FROM" : "SIZE", CellKind::kCount},
                [](const SizeItem& item) { return item.counts.size; }}});
  if (are_powers)
    columns.add({{{"to_bytes", "TO", CellKind::kCount},
                  [](const SizeItem& item) { return number(item.counts.size == 0 ? 0 : 2 * item.counts.size - 1); }}});
  columns.add({{{"count", "COUNT", CellKind::kCount}, [](const SizeItem& item) { return item.counts.allocations; }},
               {{"bytes", "BYTES", CellKind::kBytes}, [](const SizeItem& item) { return item.counts.bytes; }}});
  if (has_waste)
    columns.add({{{"waste_bytes", "WASTE", CellKind::kBytes}, [](const SizeItem& item) { return item.counts.waste; }}});
  columns.add(
      {{{"live_blocks", "LIVE BLOCKS", CellKind::kCount}, [](const SizeItem& item) { return item.counts.live_blocks; }},
       {{"live_bytes", "LIVE", CellKind::kBytes}, [](const SizeItem& item) { return item.counts.live_bytes; }},
       {kBarColumn, [](const SizeItem& item) { return bar_text(item.counts.allocations, item.largest); }}});
  return columns;
}

Table table_of_sizes(const char* key, const char* title, const std::vector<SizeCounts>& sizes, bool are_powers,
                     bool has_waste) {
  uint64_t largest = 0;
  for (const SizeCounts& counts : sizes) largest = std::max(largest, counts.allocations);
  std::vector<SizeItem> items;
  items.reserve(sizes.size());
  for (const SizeCounts& counts : sizes) items.push_back({counts, largest});
  Table table;
  table.key = key;
  table.title = title;
  size_columns(are_powers, has_waste).fill(table, std::move(items));
  return table;
}

// The file of an allocator that replaces libc's, in a process that allocated: how it rounds sizes is unknown. Only
// allocators known by their file's name are noticed.
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

// SPDX-License-Identifier: MIT
// See heap_chart.h. Also the same points as a table, for machines.
#include "report/alloc/heap_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/alloc/alloc_rows.h"
#include "report/columns.h"
#include "report/reports.h"
#include "report/text.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr uint64_t kSteps = 8;  // levels of a block character

// Height in eighths of a row, rounded; at least one if not 0.
uint64_t eighths(uint64_t bytes, uint64_t peak, size_t height) {
  if (bytes == 0) return 0;
  const double part = static_cast<double>(bytes) / static_cast<double>(peak);
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(part * static_cast<double>(height * kSteps))));
}

// One character, filled by 0 to 8 eighths. Four levels in ASCII.
std::string cell(uint64_t filled, bool ascii) {
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (!ascii) return kBlocks[std::min(filled, kSteps)];
  return filled == 0 ? " " : filled < kSteps / 2 ? "." : filled < kSteps ? ":" : "#";
}

// Nanoseconds since `start` (ticks of the recording's first event), as in all tables, even if a range (-r) begins
// later. Nothing lies before the range.
int64_t since(uint64_t start, const Recording& recording, const HeapHistory& history, uint64_t ticks) {
  return recording.time().duration_ns(start, std::max(ticks, history.begin()));
}

// The largest value shown is at the top, its half in the middle, 0 at the bottom.
std::string axis_label(size_t row, size_t height, uint64_t peak) {
  if (row == 0) return bytes_text(static_cast<int64_t>(peak));
  if (row == height / 2) return bytes_text(static_cast<int64_t>(peak / 2));
  return row + 1 == height ? "0 B" : "";
}

struct PointItem {
  int64_t time;  // nanoseconds since the start
  HeapPoint point;
};

Columns<PointItem> point_columns() {
  return {
      {{"time_ns", "TIME", CellKind::kDuration}, [](const PointItem& item) { return item.time; }},
      {{"max_bytes", "MOST", CellKind::kBytes}, [](const PointItem& item) { return item.point.most_bytes; }},
      {{"max_blocks", "BLOCKS", CellKind::kCount}, [](const PointItem& item) { return item.point.most_blocks; }},
      {{"min_bytes", "LEAST", CellKind::kBytes}, [](const PointItem& item) { return item.point.least_bytes; }},
      {{"live_bytes", "LIVE", CellKind::kBytes}, [](const PointItem& item) { return item.point.end_bytes; }},
      {{"live_blocks", "LIVE BLOCKS", CellKind::kCount}, [](const PointItem& item) { return item.point.end_blocks; }}};
}

}  // namespace

bool print_heap_chart(const Recording& recording, const HeapHistory& history, const ChartStyle& style,
                      const TextSink& sink) {
  // Width of the axis labels, "1,023 MB".
  constexpr size_t kLabel = 9;
  const TextStyle text{style.color, style.width};
  // At most one column per point, and room for a label even on a narrow terminal.
  const size_t columns = std::clamp<size_t>(style.width - kLabel - 2, 10, HeapHistory::kPoints);
  const std::vector<HeapPoint> points = history.points(columns);
  const uint64_t peak = std::max<uint64_t>(history.peak_bytes(), 1);
  const auto highest = std::find_if(points.begin(), points.end(),
                                    [&](const HeapPoint& point) { return point.most_bytes == history.peak_bytes(); });
  // The peak's column is marked above the chart: a narrow peak is easily overlooked.
  const size_t mark = static_cast<size_t>(highest - points.begin());
  std::string line = std::string(kLabel + 2, ' ') + std::string(mark, ' ');
  if (!sink(line + tinted(style.ascii ? "v" : "▼", Tint::kWarn, text) + "\n")) return false;
  // From the top row down; `below` is how much the rows under it cover.
  for (size_t row = 0; row < style.height; ++row) {
    line = fmt::format("{:>{}} {}", axis_label(row, style.height, peak), kLabel, style.ascii ? "|" : "│");
    const uint64_t below = (style.height - 1 - row) * kSteps;
    std::string drawn;
    for (const HeapPoint& point : points) {
      const uint64_t high = eighths(point.most_bytes, peak, style.height);
      drawn += cell(high <= below ? 0 : std::min(high - below, kSteps), style.ascii);
    }
    // No trailing blanks.
    drawn.erase(drawn.find_last_not_of(' ') + 1);
    if (!sink(line + tinted(drawn, Tint::kTime, text) + "\n")) return false;
  }
  line = std::string(kLabel + 1, ' ') + (style.ascii ? "+" : "└");
  for (size_t i = 0; i < columns; ++i) line += style.ascii ? "-" : "─";
  const uint64_t start = summarize(recording).first_time;
  const std::string begin =
      history.begin() <= start ? "0 s" : duration_text(since(start, recording, history, history.begin()));
  const std::string end = duration_text(since(start, recording, history, history.end()));
  const size_t rest = columns - std::min(begin.size(), columns);
  const std::string scale = std::string(kLabel + 2, ' ') + fmt::format("{}{:>{}}", begin, end, rest);
  return sink(line + "\n" + scale + "\n");
}

Report heap_report(const Recording& recording, const Allocations& heap, const HeapHistory& history, bool ascii) {
  Report report;
  const HeapTotals total = heap.total();
  const uint64_t start = summarize(recording).first_time;
  report.head.push_back(
      total.allocations == 0
          ? no_allocations_text(recording, heap)
          : fmt::format("{} in {}{} at the peak{} after {}; {} in {} live {}",
                        bytes_text(static_cast<int64_t>(history.peak_bytes())),
                        plural_text(static_cast<int64_t>(history.peak_blocks()), heap.family().block()),
                        family_text(heap), busy_processes(heap) > 1 ? " of all processes together" : "",
                        duration_text(since(start, recording, history, history.peak_time())),
                        bytes_text(static_cast<int64_t>(total.live_bytes)),
                        plural_text(static_cast<int64_t>(total.live_blocks), heap.family().block()),
                        end_text(recording, heap)));
  Table table;
  table.key = "heap";
  std::vector<PointItem> items;
  if (total.allocations != 0)
    for (const HeapPoint& point : history.points(HeapHistory::kPoints))
      items.push_back({since(start, recording, history, point.time), point});
  point_columns().fill(table, std::move(items));
  // Drawn when the table is printed as text, because the width is known only then. CSV and JSON have the points as
  // rows.
  table.draw = [&recording, &history, ascii](const TextStyle& text, const TextSink& sink) {
    ChartStyle style;
    if (text.width != 0) style.width = std::max<size_t>(text.width, 40);
    style.ascii = ascii;
    style.color = text.color;
    return print_heap_chart(recording, history, style, sink);
  };
  report.add(std::move(table));
  return report;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See report_flame.h.
#include "cli/report/report_flame.h"

#include "analysis/analyses.h"
#include "cli/input.h"
#include "cli/output/progress_line.h"
#include "cli/output/table_output.h"
#include "cli/report/weights.h"
#include "options/terminal.h"
#include "report/calls/flame.h"
#include "report/reports.h"

namespace penna {
namespace {

constexpr size_t kFlameWidth = 100;

// The words after the total, by weight.
FlameUnit unit_of(FoldedWeight weight) {
  switch (weight) {
    case FoldedWeight::kTime: return {CellKind::kDuration, "of calls"};
    case FoldedWeight::kCalls: return {CellKind::kCount, "calls"};
    case FoldedWeight::kAllocBytes: return {CellKind::kBytes, "allocated"};
    case FoldedWeight::kAllocs: return {CellKind::kCount, "allocations"};
    case FoldedWeight::kLive: return {CellKind::kBytes, "live at the end"};
    case FoldedWeight::kPeak: return {CellKind::kBytes, "live at the peak"};
    case FoldedWeight::kTemp: return {CellKind::kCount, "temporary allocations"};
    case FoldedWeight::kWait: return {CellKind::kDuration, "of waits"};
    case FoldedWeight::kWaitByHolder: return {CellKind::kDuration, "of waits for locks"};
    case FoldedWeight::kPoints: return {CellKind::kCount, "passes of points"};
  }
  return {CellKind::kCount, ""};
}

}  // namespace

Result<> show_flame(const Recording& recording, const ReportOptions& options, Output& output) {
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input, recording);
  Names names(recording, *symbols, name_style(options.input, options.table.format));
  const Summary summary = summarize(recording);
  const FoldedWeight weight = options.weight.value_or(default_weight(summary));
  PENNA_TRY(check_weight_of_sample(recording, weight));
  const std::unique_ptr<AllocationChoice> choice = PENNA_TRY(make_choice(options.allocations, recording, names));
  const FoldedOptions folded{weight, false, choice.get()};
  Flame flame;
  Analyses analyses;
  {
    const std::unique_ptr<ProgressObserver> line = progress_line(!options.input.no_progress);
    Progress progress("reading", summary.total_events(), "events", line.get());
    const StackVisitor add = [&](std::span<const std::string_view> frames, uint64_t value) {
      flame.add(frames, value);
      return true;
    };
    analyses.walk = fold_stacks(recording, names, folded, add, [&](uint64_t events) { progress.step(events); }).walk;
  }
  const size_t terminal = terminal_width(output.fd());
  FlameStyle style;
  style.width = options.width.value_or(terminal != 0 ? terminal : kFlameWidth);
  style.color = wants_color(options.table.color, output.fd());
  style.ascii = wants_ascii(options.ascii, output.fd());
  (void)flame.print(style, unit_of(folded.weight), output.sink());
  Report closing;
  closing.tail = choice_notes(options.allocations, recording, choice.get());
  closing.warnings = health_warnings(examine(recording, summary, analyses, names));
  write_report(closing, options.table, output);
  return ok();
}

}  // namespace penna

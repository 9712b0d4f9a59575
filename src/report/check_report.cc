// SPDX-License-Identifier: MIT
// See check_report.h.
#include "report/check_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/frames.h"
#include "report/print.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

CellKind kind_of(const Verdict& verdict) {
  switch (verdict.unit) {
    case Verdict::Unit::kBytes: return CellKind::kBytes;
    case Verdict::Unit::kTime: return CellKind::kDuration;
    default: return CellKind::kCount;
  }
}

const char* title_of(const Verdict& verdict) {
  switch (verdict.unit) {
    case Verdict::Unit::kBytes: return "BYTES";
    case Verdict::Unit::kTime: return "LONGEST";
    default: return "COUNT";
  }
}

Table table_of_limits(const std::vector<Verdict>& verdicts) {
  Table table;
  table.key = "limits";
  table.columns = {{"found", "FOUND", CellKind::kNumber, false, true},
                   {"allowed", "ALLOWED", CellKind::kNumber, false, true},
                   {"broken", "BROKEN", CellKind::kNumber, false, true},
                   {"", "FOUND", CellKind::kText, false, false, true},
                   {"", "ALLOWED", CellKind::kText, false, false, true},
                   {"", "", CellKind::kText, false, false, true},
                   {"limit", "LIMIT", CellKind::kText, true}};
  for (const Verdict& verdict : verdicts) {
    const Cell found = number(verdict.found), allowed = number(verdict.allowed);
    table.add({found, allowed, int64_t{verdict.is_broken()}, cell_text(found, kind_of(verdict)),
               cell_text(allowed, kind_of(verdict)), std::string(verdict.is_broken() ? "broken" : "ok"),
               verdict.limit});
  }
  return table;
}

Table table_of_blames(const Recording& recording, const Verdict& verdict, Names& names) {
  Table table;
  table.title = fmt::format("{}: {} found", verdict.limit, cell_text(number(verdict.found), kind_of(verdict)));
  table.key = verdict.limit;
  table.details_key = "stack";
  table.details_in_row = true;
  table.columns = {{"amount", title_of(verdict), kind_of(verdict)}, {"pid", "PID", CellKind::kNumber, false, true}};
  add_place_columns(table, "STACK");
  for (uint32_t i = 0; i < verdict.blames.size(); ++i) {
    const Blame& blame = verdict.blames[i];
    std::vector<Cell> cells = {number(blame.amount), int64_t{recording.processes()[blame.process].process.pid}};
    add_place_cells(cells);
    table.add(std::move(cells), i);
  }
  table.complete = [&verdict, &names](TableRow& row) {
    const Blame& blame = verdict.blames[row.source];
    (verdict.of_locks ? set_stack_of_wait : set_stack)(row, blame.process, blame.stack, names);
  };
  return table;
}

}  // namespace

Report check_report(const Recording& recording, const std::vector<Verdict>& verdicts, Names& names,
                    const Allocations* blocks) {
  Report report;
  const auto broken =
      std::count_if(verdicts.begin(), verdicts.end(), [](const Verdict& one) { return one.is_broken(); });
  const std::string all = plural_text(static_cast<int64_t>(verdicts.size()), "limit");
  const std::string of_blocks =
      blocks == nullptr || blocks->family().is_heap()
          ? ""
          : fmt::format("; {}s are those{}", blocks->family().allocation(), family_text(*blocks));
  report.head.push_back(broken == 0 ? fmt::format("{} kept{}.", all, of_blocks)
                                    : fmt::format("{} of {} broken{}.", broken, all, of_blocks));
  report.tables.push_back(table_of_limits(verdicts));
  for (const Verdict& verdict : verdicts) {
    if (verdict.is_broken() && !verdict.blames.empty())
      report.tables.push_back(table_of_blames(recording, verdict, names));
    if (!verdict.doubt.empty()) report.tail.push_back(fmt::format("{}: {}.", verdict.limit, verdict.doubt));
  }
  return report;
}

}  // namespace penna

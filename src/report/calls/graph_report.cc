// SPDX-License-Identifier: MIT
// penna graph: who calls a function, and what it calls.
#include <fmt/format.h>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr const char* kRoles[] = {"caller", "function", "callee"};
constexpr uint32_t kNobody = UINT32_MAX, kAllChosen = UINT32_MAX - 1;  // rows that are of no single function

class GraphReport {
 public:
  GraphReport(const Recording& recording, const CallGraph& graph, Names& names, const std::string& pattern)
      : recording_(recording), graph_(graph), names_(names), pattern_(pattern) {
    for (FunctionId function = 0; function < graph.functions().size(); ++function)
      if (graph.is_chosen(function)) chosen_.push_back(function);
  }

  Table table(const char* key, const char* title) const {
    Table table;
    table.key = key;
    table.title = title;
    table.details_in_row = true;
    table.columns = {{"role", "ROLE", CellKind::kText, false, true},
                     {"calls", "CALLS", CellKind::kCount},
                     {"total_ns", "TOTAL", CellKind::kDuration},
                     {"self_ns", "SELF", CellKind::kDuration}};
    add_place_columns(table, "FUNCTION");
    table.complete = [&graph = graph_, &names = names_, pattern = pattern_](TableRow& row) {
      if (row.source == kNobody || row.source == kAllChosen) {
        const std::string text = row.source == kNobody ? "[nothing that was recorded]" : pattern;
        row.cells.back() = text;
        row.details = {{text, ""}};
        return;
      }
      set_function(row, names.at(graph.functions().place(row.source)).back(), names.map());
    };
    return table;
  }

  void add_callers(Table& table) const {
    for (const CallGraph::Neighbour& one : graph_.callers()) add(table, 0, one.function, one.edge);
  }
  void add_chosen(Table& table) const { add(table, 1, chosen_.size() == 1 ? chosen_[0] : kAllChosen, graph_.chosen()); }
  void add_callees(Table& table) const {
    for (const CallGraph::Neighbour& one : graph_.callees()) add(table, 2, one.function, one.edge);
  }

  std::string head() const {
    const CallEdge& all = graph_.chosen();
    std::string text = fmt::format("{}: {}", pattern_, plural_text(static_cast<int64_t>(all.calls), "call"));
    if (chosen_.size() == 1) return text;
    constexpr size_t kNamed = 8;
    text += fmt::format(" of {}: ", plural_text(static_cast<int64_t>(chosen_.size()), "function"));
    for (size_t i = 0; i < chosen_.size() && i < kNamed; ++i)
      text += (i == 0 ? "" : ", ") + names_.function_name(graph_.functions().place(chosen_[i]));
    return text + (chosen_.size() > kNamed ? ", ..." : "");
  }

 private:
  void add(Table& table, size_t role, FunctionId function, const CallEdge& edge) const {
    std::vector<Cell> cells = {std::string(kRoles[role]), number(edge.calls), ticks_to_ns(recording_, edge.total),
                               ticks_to_ns(recording_, edge.self)};
    add_place_cells(cells);
    table.add(std::move(cells), function);
  }

  const Recording& recording_;
  const CallGraph& graph_;
  Names& names_;
  const std::string& pattern_;
  std::vector<FunctionId> chosen_;
};
static_assert(kNobody == kNoFunction);

}  // namespace

Report graph_report(const Recording& recording, const CallGraph& graph, Names& names, const std::string& pattern,
                    bool in_one_table) {
  const GraphReport build(recording, graph, names, pattern);
  Report report;
  report.head.push_back(build.head());
  if (in_one_table) {
    Table all = build.table("graph", "");
    build.add_callers(all);
    build.add_chosen(all);
    build.add_callees(all);
    report.tables.push_back(std::move(all));
    return report;
  }
  Table callers = build.table("callers", "Called by"), chosen = build.table("function", "The function"),
        callees = build.table("callees", "What it calls");
  callers.order = "with its times in these calls";
  callees.order = "with their times in these calls";
  build.add_callers(callers);
  build.add_chosen(chosen);
  build.add_callees(callees);
  report.tables = {std::move(callers), std::move(chosen)};
  report.add(std::move(callees));
  return report;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// penna graph: the callers and callees of a function.
#include <fmt/format.h>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr const char* kRoles[] = {"caller", "function", "callee"};
// Rows that are not a single function: the outermost calls have no caller, and several chosen functions share one row.
constexpr uint32_t kNobody = UINT32_MAX, kAllChosen = UINT32_MAX - 1;

struct EdgeItem : Placed {
  EdgeItem(const Recording& all, const CallGraph& of, Names& its_names, const std::string& its_pattern, size_t its_role,
           FunctionId its_function, const CallEdge& its_edge)
      : recording(all),
        graph(of),
        names(its_names),
        pattern(its_pattern),
        role(its_role),
        function(its_function),
        edge(its_edge) {}
  const Recording& recording;
  const CallGraph& graph;
  Names& names;
  std::string pattern;
  size_t role;
  FunctionId function;
  CallEdge edge;
};

Columns<EdgeItem> edge_columns() {
  return {{{"role", "ROLE", CellKind::kText, false, true}, [](const EdgeItem& item) { return kRoles[item.role]; }},
          {{"calls", "CALLS", CellKind::kCount}, [](const EdgeItem& item) { return item.edge.calls; }},
          {{"total_ns", "TOTAL", CellKind::kDuration},
           [](const EdgeItem& item) { return ticks_to_ns(item.recording, item.edge.total); }},
          {{"self_ns", "SELF", CellKind::kDuration},
           [](const EdgeItem& item) { return ticks_to_ns(item.recording, item.edge.self); }}};
}

// The name of the function, or words for rows that are none.
void describe(TableRow& row, EdgeItem& item) {
  if (item.function != kNobody && item.function != kAllChosen)
    return set_function(row, item, item.names.at(item.graph.functions().place(item.function)).back(), item.names.map());
  item.instead = item.function == kNobody ? std::string_view("[nothing that was recorded]") : item.pattern;
  row.details = {{std::string(item.instead), ""}};
}

// Builds the tables: callers above the chosen functions, callees below.
class GraphReport {
 public:
  GraphReport(const Recording& recording, const CallGraph& graph, Names& names, const std::string& pattern)
      : recording_(recording), graph_(graph), names_(names), pattern_(pattern) {
    for (FunctionId function = 0; function < graph.functions().size(); ++function)
      if (graph.is_chosen(function)) chosen_.push_back(function);
  }

  Table table(const char* key, const char* title, std::vector<EdgeItem> items) const {
    Table table;
    table.key = key;
    table.title = title;
    table.details_in_row = true;
    Columns<EdgeItem> columns = edge_columns();
    columns.add(place_columns("FUNCTION"));
    columns.fill(table, std::move(items), describe);
    return table;
  }

  std::vector<EdgeItem> callers() const { return items(0, graph_.callers()); }
  std::vector<EdgeItem> chosen() const {
    return {item(1, chosen_.size() == 1 ? chosen_[0] : kAllChosen, graph_.chosen())};
  }
  std::vector<EdgeItem> callees() const { return items(2, graph_.callees()); }

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
  EdgeItem item(size_t role, FunctionId function, const CallEdge& edge) const {
    return {recording_, graph_, names_, pattern_, role, function, edge};
  }
  std::vector<EdgeItem> items(size_t role, const std::vector<CallGraph::Neighbour>& neighbours) const {
    std::vector<EdgeItem> items;
    items.reserve(neighbours.size());
    for (const CallGraph::Neighbour& one : neighbours) items.push_back(item(role, one.function, one.edge));
    return items;
  }

  const Recording& recording_;
  const CallGraph& graph_;
  Names& names_;
  const std::string& pattern_;
  std::vector<FunctionId> chosen_;
};
static_assert(kNobody == kNoFunction);

}  // namespace

// CSV has a single table, so the role is a column there.
Report graph_report(const Recording& recording, const CallGraph& graph, Names& names, const std::string& pattern,
                    bool in_one_table) {
  const GraphReport build(recording, graph, names, pattern);
  Report report;
  report.head.push_back(build.head());
  if (in_one_table) {
    std::vector<EdgeItem> all = build.callers();
    for (const auto& more : {build.chosen(), build.callees()})
      for (const EdgeItem& item : more) all.push_back(item);
    report.tables.push_back(build.table("graph", "", std::move(all)));
    return report;
  }
  Table callers = build.table("callers", "Called by", build.callers());
  Table callees = build.table("callees", "What it calls", build.callees());
  callers.order = "with its times in these calls";
  callees.order = "with their times in these calls";
  report.tables = {std::move(callers), build.table("function", "The function", build.chosen())};
  report.add(std::move(callees));
  return report;
}

}  // namespace penna

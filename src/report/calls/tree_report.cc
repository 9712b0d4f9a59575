// SPDX-License-Identifier: MIT
// penna report tree: calls by the way that led to them, each function below its caller.
#include <fmt/format.h>

#include <vector>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// Node numbers in the order of the lines: each behind its parent, brothers by their time.
std::vector<uint32_t> in_order(const CallTree& tree) {
  const std::vector<std::vector<uint32_t>> children = tree.children();
  std::vector<uint32_t> order, waiting(children[0].rbegin(), children[0].rend());
  while (!waiting.empty()) {
    const uint32_t node = waiting.back();
    waiting.pop_back();
    order.push_back(node);
    waiting.insert(waiting.end(), children[node].rbegin(), children[node].rend());
  }
  return order;
}

std::string tree_head(const Recording& recording, const CallTree& tree, size_t nodes) {
  if (nodes == 0) return no_calls_text(recording);
  std::string text = fmt::format("{} to call {}", plural_text(static_cast<int64_t>(nodes), "way"),
                                 plural_text(static_cast<int64_t>(tree.functions().size()), "function"));
  if (tree.folded() != 0)
    text += fmt::format(", and more: {} were added to their callers",
                        plural_text(static_cast<int64_t>(tree.folded()), "call"));
  return text;
}

}  // namespace

Report tree_report(const Recording& recording, const CallTree& tree, Names& names) {
  Table table;
  table.key = "tree";
  table.order = "each function below its caller, by TOTAL";
  table.details_in_row = true;
  table.columns = {{"total_ns", "TOTAL", CellKind::kDuration},
                   {"percent", "OF ALL", CellKind::kPercent},
                   {"self_ns", "SELF", CellKind::kDuration},
                   {"calls", "CALLS", CellKind::kCount},
                   {"depth", "DEPTH", CellKind::kCount, false, true}};
  add_place_columns(table, "FUNCTION");
  const auto ns = [&](uint64_t ticks) { return Cell{ticks_to_ns(recording, ticks)}; };
  const double all = static_cast<double>(tree.nodes()[0].total);
  for (uint32_t number_of_node : in_order(tree)) {
    const CallNode& node = tree.nodes()[number_of_node];
    std::vector<Cell> cells = {ns(node.total), all == 0 ? Cell{} : Cell{100 * static_cast<double>(node.total) / all},
                               ns(node.self), number(node.calls), number(uint64_t{node.depth})};
    add_place_cells(cells);
    table.add(std::move(cells), number_of_node);
  }
  table.complete = [&tree, &names](TableRow& row) {
    const CallNode& node = tree.nodes()[row.source];
    set_function(row, names.at(tree.functions().place(node.function)).back(), names.map());
    row.details[0].text.insert(0, size_t{2} * (node.depth - 1), ' ');
  };
  Report report;
  report.head.push_back(tree_head(recording, tree, table.rows.size()));
  report.add(std::move(table));
  return report;
}

}  // namespace penna

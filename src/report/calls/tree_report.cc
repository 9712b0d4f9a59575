// SPDX-License-Identifier: MIT
// penna report tree: calls by call path, each function below its caller.
#include <fmt/format.h>

#include <vector>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// Node numbers in the order of the lines: each after its parent, siblings by time.
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

struct NodeItem : Placed {
  NodeItem(const Recording& all, const CallTree& of, const CallNode& one, Names& its_names)
      : recording(all), tree(of), node(one), names(its_names) {}
  const Recording& recording;
  const CallTree& tree;
  const CallNode& node;
  Names& names;
};

Columns<NodeItem> node_columns() {
  return {{{"total_ns", "TOTAL", CellKind::kDuration},
           [](const NodeItem& item) { return ticks_to_ns(item.recording, item.node.total); }},
          {{"percent", "OF ALL", CellKind::kPercent},
           [](const NodeItem& item) {
             const auto all = static_cast<double>(item.tree.nodes()[0].total);
             return all == 0 ? Cell{} : Cell{100 * static_cast<double>(item.node.total) / all};
           }},
          {{"self_ns", "SELF", CellKind::kDuration},
           [](const NodeItem& item) { return ticks_to_ns(item.recording, item.node.self); }},
          {{"calls", "CALLS", CellKind::kCount}, [](const NodeItem& item) { return item.node.calls; }},
          {{"depth", "DEPTH", CellKind::kCount, false, true}, [](const NodeItem& item) { return item.node.depth; }}};
}

}  // namespace

Report tree_report(const Recording& recording, const CallTree& tree, Names& names) {
  Table table;
  table.key = "tree";
  table.order = "each function below its caller, by TOTAL";
  table.details_in_row = true;
  std::vector<NodeItem> items;
  for (uint32_t node : in_order(tree)) items.emplace_back(recording, tree, tree.nodes()[node], names);
  Columns<NodeItem> columns = node_columns();
  columns.add(place_columns("FUNCTION"));
  columns.fill(table, std::move(items), [](TableRow& row, NodeItem& item) {
    const CodePlace& place = item.tree.functions().place(item.node.function);
    set_function(row, item, item.names.at(place).back(), item.names.map());
    row.details[0].text.insert(0, size_t{2} * (item.node.depth - 1), ' ');
  });
  Report report;
  report.head.push_back(tree_head(recording, tree, table.rows.size()));
  report.add(std::move(table));
  return report;
}

}  // namespace penna

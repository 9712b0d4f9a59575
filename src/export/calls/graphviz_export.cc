// SPDX-License-Identifier: MIT
// See graphviz_export.h.
#include "export/calls/graphviz_export.h"

#include <cmath>

#include "base/count_text.h"
#include "export/text/event_words.h"
#include "export/text/utf8.h"

namespace penna {
namespace {

constexpr double kLeastFunction = 0.005, kLeastEdge = 0.001;  // of the total

class GraphvizExport {
 public:
  GraphvizExport(const FunctionSums& sums, const TextSink& sink) : sums_(sums), out_(sink) {}

  uint64_t write(const char* unit) {
    out_.format(
        "digraph penna {{\n"
        "  label=\"{} {} in all\"; labelloc=t; fontname=\"Helvetica\";\n"
        "  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=10];\n"
        "  edge [fontname=\"Helvetica\", fontsize=9];\n",
        sums_.all, unit);
    uint64_t drawn = 0;
    for (uint32_t i = 0; i < sums_.functions.size(); ++i) {
      if (!is_drawn(i)) continue;
      ++drawn;
      function(i);
    }
    for (const EdgeSum& edge : sums_.edges)
      if (is_drawn(edge.caller) && is_drawn(edge.callee) && share(edge.total) >= kLeastEdge) call(edge);
    out_.text("}\n");
    out_.flush();
    return drawn;
  }

 private:
  double share(uint64_t part) const {
    return sums_.all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(sums_.all);
  }
  bool is_drawn(uint32_t function) const { return share(sums_.functions[function].total) >= kLeastFunction; }

  // Escapes what would end the surrounding quotes, or is a line of its own.
  static std::string escaped(const std::string& text) {
    std::string safe;
    for (char c : valid_utf8(one_line(text))) {
      if (c == '"' || c == '\\') safe += '\\';
      safe += c;
    }
    return safe;
  }
  // From yellow to red by the function's self share.
  void function(uint32_t number) {
    const FunctionSum& of = sums_.functions[number];
    std::string label = escaped(of.name);
    label += fmt::format("\\n{:.1f} % (itself {:.1f} %)", 100 * share(of.total), 100 * share(of.self));
    if (of.calls != 0) label += "\\n" + plural_text(static_cast<int64_t>(of.calls), "call");
    out_.format("  f{} [label=\"{}\", fillcolor=\"0.15 {:.2f} 1\"];\n", number, label,
                0.05 + 0.75 * std::sqrt(share(of.self)));
  }
  void call(const EdgeSum& edge) {
    out_.format("  f{} -> f{} [label=\"{:.1f} %", edge.caller, edge.callee, 100 * share(edge.total));
    if (edge.calls != 0) out_.format("\\n{} x", edge.calls);
    out_.format("\", penwidth={:.1f}];\n", 0.5 + 4 * share(edge.total));
  }

  const FunctionSums& sums_;
  TextBuffer out_;
};

}  // namespace

GraphReport export_graphviz(const Recording& recording, Names& names, const FoldedOptions& options,
                            const TextSink& sink, const std::function<void(uint64_t)>& step) {
  FunctionSums sums;
  GraphReport report;
  report.folded = sum_functions(recording, names, options, sums, step);
  report.functions = sums.functions.size();
  report.drawn = GraphvizExport(sums, sink).write(unit_word(options.weight));
  return report;
}

}  // namespace penna

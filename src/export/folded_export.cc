// SPDX-License-Identifier: MIT
// See folded_export.h.
#include "export/folded_export.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/call_tree.h"

namespace penna {
namespace {

// The name as a part of a line: what separates parts, or lines, cannot be in it.
std::string part(const std::string& name) {
  std::string text = name;
  for (char& c : text) c = c == ';' ? ':' : c == '\n' ? ' ' : c;
  return text;
}

}  // namespace

bool export_folded(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                   WalkReport* walk) {
  CallTree tree(recording, names.map(), false);
  *walk = for_each_thread_event(recording, {.classes = kCallEvents}, [&](const Event& event) {
    step();
    tree(event);
  });
  tree.finish();

  TextBuffer out(sink);
  const std::vector<CallNode>& nodes = tree.nodes();
  std::vector<std::string> functions(tree.functions().size());
  std::vector<const std::string*> path;
  for (size_t i = 1; i < nodes.size() && out.ok(); ++i) {
    const auto ns = std::llround(static_cast<double>(nodes[i].self) * recording.time().ns_per_tick());
    if (ns == 0) continue;
    path.clear();
    for (size_t at = i; at != 0; at = nodes[at].parent) {
      std::string& name = functions[nodes[at].function];
      if (name.empty()) name = part(names.at(tree.functions().place(nodes[at].function)).back().function);
      path.push_back(&name);
    }
    for (auto name = path.rbegin(); name != path.rend(); ++name) {
      if (name != path.rbegin()) out.text(";");
      out.text(**name);
    }
    out.text(" ");
    out.integer(ns);
    out.text("\n");
  }
  return out.flush();
}

}  // namespace penna

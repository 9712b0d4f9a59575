// SPDX-License-Identifier: MIT
// See time_order.h.
#include "view/answers/time_order.h"

#include "base/hash.h"
#include "view/answers/flame_tree.h"

namespace penna {

void TimeOrder::enter(uint32_t name) {
  if (open_.size() > kMostDepths) return void(++too_deep_);
  const uint32_t caller = open_.back();
  uint32_t node = nodes_[caller].last;
  if (node == kNone || nodes_[node].name != name) {
    if (node != kNone) close(node);
    node = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({caller, name});
    nodes_[caller].last = node;
  }
  ++nodes_[node].count;
  open_.push_back(node);
}

void TimeOrder::leave(int64_t duration) {
  if (too_deep_ != 0) return void(--too_deep_);
  nodes_[open_.back()].total += duration;
  open_.pop_back();
}

// It is complete. Nodes that are too short are removed, innermost first: such a node is always the last one, because
// all nodes below it are shorter.
void TimeOrder::close(uint32_t node) {
  std::vector<uint32_t> chain;
  for (uint32_t at = node; at != kNone; at = nodes_[at].last) chain.push_back(at);
  for (size_t i = chain.size(); i-- > 0;) {
    Node& one = nodes_[chain[i]];
    one.last = kNone;
    if (one.total >= smallest_ || chain[i] + 1 != nodes_.size()) continue;
    nodes_[one.parent].hidden += one.total;
    nodes_[one.parent].last = kNone;
    nodes_.pop_back();
  }
}

void TimeOrder::read(const Recording& recording, Names& names, uint32_t thread, const std::string& name) {
  open_ = {0};
  int64_t whole = 0;
  if (!name.empty()) enter(names_.id(name));
  const size_t outermost = open_.size();
  NumberMap<uint32_t> known;  // by pc
  TimelineOptions options;
  options.filter.classes = kCallEvents;
  options.fold_leaves = false;
  for_each_timeline_line(recording, thread, options, [&](const TimelineLine& line) {
    if (line.kind == LineKind::kEnter) {
      const auto name_of = [&] { return names_.id(names.function_name(line.process, line.pc, line.time)); };
      if (names.map().time_matters(line.process)) return enter(name_of()), true;
      const auto [found, is_new] = known.try_emplace(line.pc, 0);
      if (is_new) found.value() = name_of();
      enter(found->second);
    } else if (line.kind == LineKind::kLeave && open_.size() + too_deep_ > outermost) {
      const int64_t duration = recording.time().duration_ns(line.begin, line.begin + line.duration);
      leave(duration);
      if (open_.size() == outermost) whole += duration;
    }
    return true;
  });
  if (!name.empty()) leave(whole);
}

std::string TimeOrder::answer(NameIds& ids) {
  if (nodes_[0].last != kNone) close(nodes_[0].last);
  std::vector<int64_t> inside(nodes_.size());
  for (size_t i = nodes_.size() - 1; i > 0; --i) inside[nodes_[i].parent] += nodes_[i].total;
  int64_t left_out = nodes_[0].hidden;
  FlameColumns columns;
  for (size_t i = 1; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    columns.add(static_cast<int32_t>(node.parent) - 1, ids.id(names_.name(node.name)), static_cast<double>(node.total),
                static_cast<double>(node.total - inside[i]), static_cast<double>(node.count));
    left_out += node.hidden;
  }
  return columns.answer().text([&](JsonWriter& json) {
    json.field("names", ids.size());
    json.field("unit", "ns");
    json.field("total", inside[0] + nodes_[0].hidden);
    json.field("left_out", left_out);
  });
}

}  // namespace penna

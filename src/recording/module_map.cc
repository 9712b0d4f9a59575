// SPDX-License-Identifier: MIT
// See module_map.h.
//
// All starts and ends split the address space into elementary ranges, with a segment tree over them. A module is stored
// in the O(log n) nodes that together cover its range, so the modules of an address are those on one path from the
// root.
#include "recording/module_map.h"

#include <algorithm>
#include <numeric>

namespace penna {

bool has_reuse(std::span<const Module> modules) {
  std::vector<const Module*> sorted;
  for (const Module& module : modules)
    if (module.start < module.end) sorted.push_back(&module);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->start < b->start; });
  const Module* widest = nullptr;  // the one so far that reaches furthest
  for (const Module* module : sorted) {
    const bool same = widest != nullptr && module->bias == widest->bias && module->path == widest->path &&
                      module->build_id == widest->build_id;
    if (widest != nullptr && module->start < widest->end && !same) return true;
    if (widest == nullptr || module->end > widest->end) widest = module;
  }
  return false;
}

ModuleMap::ModuleMap(std::span<const Module> modules) {
  for (const Module& module : modules) {
    bounds_.push_back(module.start);
    bounds_.push_back(module.end);
  }
  std::sort(bounds_.begin(), bounds_.end());
  bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
  if (bounds_.size() < 2) return;
  size_t ranges = bounds_.size() - 1;
  tree_.resize(4 * ranges);

  std::vector<uint32_t> order(modules.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return modules[a].ticks < modules[b].ticks; });
  auto index_of = [&](uint64_t bound) {
    return static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), bound) - bounds_.begin());
  };
  uint32_t rank = 0;
  for (uint32_t i : order) {
    const Module& module = modules[i];
    if (module.start >= module.end) continue;
    insert(1, 0, ranges, index_of(module.start), index_of(module.end), {module.ticks, module.generation, rank++, i});
  }
}

// Node `node` stands for elementary ranges [low, high); the entry covers [from, to).
void ModuleMap::insert(size_t node, size_t low, size_t high, size_t from, size_t to, const Entry& entry) {
  if (to <= low || high <= from) return;
  if (from <= low && high <= to) {
    tree_[node].push_back(entry);
    return;
  }
  size_t middle = low + (high - low) / 2;
  insert(2 * node, low, middle, from, to, entry);
  insert(2 * node + 1, middle, high, from, to, entry);
}

// Among the entries that hold `pc`: the last `known` one (true for a prefix of the announcements), else the first.
template <typename Known>
uint32_t ModuleMap::search(uint64_t pc, Known known) const {
  auto range = std::upper_bound(bounds_.begin(), bounds_.end(), pc);
  if (range == bounds_.begin() || range == bounds_.end()) return kNone;
  auto index = static_cast<size_t>(range - bounds_.begin() - 1);
  const Entry* best = nullptr;
  const Entry* first = nullptr;
  size_t node = 1, low = 0, high = bounds_.size() - 1;
  for (;;) {
    const auto& entries = tree_[node];
    auto end = std::partition_point(entries.begin(), entries.end(), known);
    if (end != entries.begin() && (best == nullptr || best->rank < std::prev(end)->rank)) best = &*std::prev(end);
    if (end != entries.end() && (first == nullptr || end->rank < first->rank)) first = &*end;
    if (high - low == 1) break;
    size_t middle = low + (high - low) / 2;
    node = 2 * node + (index < middle ? 0 : 1);
    (index < middle ? high : low) = middle;
  }
  if (best == nullptr) best = first;
  return best != nullptr ? best->module : kNone;
}

uint32_t ModuleMap::find(uint64_t pc, uint64_t ticks) const {
  return search(pc, [ticks](const Entry& entry) { return entry.ticks <= ticks; });
}

uint32_t ModuleMap::find_generation(uint64_t pc, uint16_t generation) const {
  return search(pc, [generation](const Entry& entry) { return (entry.generation & 0xffff) <= generation; });
}

}  // namespace penna

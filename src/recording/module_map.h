// SPDX-License-Identifier: MIT
// ModuleMap: which module held an address at a given time.
//
// Why time: dlclose and dlopen can put another library at the same address. Invariant: a later announcement hides
// earlier ones where they overlap, from its time on. Memory n log n, a look-up log^2 n, whatever the input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recording/types.h"

namespace penna {

// Whether some address belongs to two different modules, or to one at two load addresses, at different times.
bool has_reuse(std::span<const Module> modules);

class ModuleMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  ModuleMap() = default;
  explicit ModuleMap(std::span<const Module> modules);

  // Index (into `modules`) of the last one announced at or before `ticks` that holds `pc`. If all that hold it were
  // announced later (another thread announced it a moment after), the first of them. kNone: no module ever held it. For
  // a return address look up pc - 1.
  uint32_t find(uint64_t pc, uint64_t ticks) const;
  // The same by the generation that a stack node carries (channel.h) instead of a time. It has 16 bits: after 65,536
  // dlcloses in one process the answer may be an earlier module at the same place.
  uint32_t find_generation(uint64_t pc, uint16_t generation) const;

 private:
  struct Entry {
    uint64_t ticks;
    uint32_t generation;
    uint32_t rank;  // in order of announcement
    uint32_t module;
  };
  template <typename Known>
  uint32_t search(uint64_t pc, Known known) const;
  void insert(size_t node, size_t low, size_t high, size_t from, size_t to, const Entry& entry);

  std::vector<uint64_t> bounds_;          // of the elementary ranges, ascending
  std::vector<std::vector<Entry>> tree_;  // a segment tree over them; entries of a node in order of announcement
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// StackStore: the nodes of a process's stack tree, by id.
//
// Why segments: ids are dense, so all blocks of an undamaged recording grow into one array; but a damaged or hostile
// one may name any id, and must not cost more memory than it has bytes.
// Invariant: segments do not overlap; walking up from any node goes to lower depths, so it ends.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "penna/channel.h"

namespace penna {

class StackStore {
 public:
  // Nodes `first`, `first` + 1, ...; replaces existing ones. Nodes with pc_generation 0 are absent and replace none.
  void add(uint32_t first, std::span<const penna_stack_node> nodes);

  // Null if it is absent.
  const penna_stack_node* find(uint32_t id) const;
  // The first existing node at or after `id`; empty if there is none.
  std::optional<uint32_t> next(uint32_t id) const;
  uint64_t count() const;  // of places, including absent ones in between

 private:
  void add_run(uint32_t first, std::span<const penna_stack_node> nodes);
  std::map<uint32_t, std::vector<penna_stack_node>> segments_;  // by first id
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// Shared by the unwinder's tests: a tree that interns frames, a walker with its memory, and libunwind as the reference.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unwind/walk.h"

namespace penna::unwind {

// Hooks that keep the whole tree on the heap. Never called from signal handlers that interrupt malloc in these tests.
class TestTree {
 public:
  uint32_t intern(uint32_t parent, uintptr_t pc) {
    if (full) return 0;
    auto [at, is_new] = ids_.try_emplace({parent, pc}, static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, pc});
    ++interned;
    return at->second;
  }
  uint32_t parent_of(uint32_t node, uintptr_t pc) const {
    if (node == 0 || node >= nodes_.size() || nodes_[node].second != pc) return kNoNode;
    return nodes_[node].first;
  }
  void on_new_pc(uintptr_t, const dl_find_object&) { ++new_pcs; }

  // From `node` outwards.
  std::vector<uintptr_t> stack(uint32_t node) const {
    std::vector<uintptr_t> pcs;
    for (; node != 0; node = nodes_[node].first) pcs.push_back(nodes_[node].second);
    return pcs;
  }

  size_t interned = 0;
  size_t new_pcs = 0;
  bool full = false;

 private:
  std::map<std::pair<uint32_t, uintptr_t>, uint32_t> ids_;
  std::vector<std::pair<uint32_t, uintptr_t>> nodes_{{0, 0}};
};

template <typename T>
struct Zeroed {
  Zeroed() : memory(static_cast<T*>(std::calloc(1, sizeof(T)))) {}
  ~Zeroed() { std::free(memory); }
  Zeroed(const Zeroed&) = delete;
  Zeroed& operator=(const Zeroed&) = delete;
  T& operator*() const { return *memory; }
  T* operator->() const { return memory; }
  T* memory;
};

// A walker with everything that it needs, for one thread.
struct Unwinder {
  struct Block {
    uint64_t words[RuleCache::kEntries];
  };
  Zeroed<Block> block;
  Walker walker{RuleCache(block.memory), {}};
  Zeroed<ThreadMemory> memory;
  TestTree tree;

  WalkResult walk(const Registers& start) { return unwind::walk(walker, start, *memory, tree); }
  // The same stack with nothing remembered.
  WalkResult walk_without_memory(const Registers& start) {
    memory_for_fresh->count = 0;
    return unwind::walk(walker, start, *memory_for_fresh, tree);
  }
  Zeroed<ThreadMemory> memory_for_fresh;
};

// The return addresses of the callers of reference_stack()'s caller, by libunwind.
std::vector<uintptr_t> reference_stack();
// The interrupted pc and its callers, by libunwind, from a signal handler's context.
std::vector<uintptr_t> reference_stack(const ucontext_t& context);

// "0x… symbol" a line, for messages.
std::string describe(const std::vector<uintptr_t>& pcs);

}  // namespace penna::unwind

// SPDX-License-Identifier: MIT
// See allocation_groups.h.
#include "model/allocation_groups.h"

#include <algorithm>
#include <utility>

namespace penna {
namespace {

class Grouping {
 public:
  Grouping(Names& names, GroupBy by) : names_(names), by_(by) {}

  void add(const StackAllocations& stack) {
    const NamedStack named = names_.stack(stack.process, stack.stack);
    ++stack_;
    const NameFrame* origin = names_.origin(stack.process, stack.stack);
    groups_[group_of(origin)].self.add(stack);
    if (origin == nullptr) return add_total(origin, stack);
    for (const NameFrame* frame : named.frames) add_total(frame, stack);
  }
  std::vector<AllocationGroup> take() { return std::move(groups_); }

 private:
  void add_total(const NameFrame* frame, const StackAllocations& stack) {
    const uint32_t group = group_of(frame);
    if (last_stack_[group] == stack_) return;
    last_stack_[group] = stack_;
    groups_[group].total.add(stack);
  }
  uint32_t group_of(const NameFrame* frame) {
    auto [known, added] = by_frame_.try_emplace(reinterpret_cast<uintptr_t>(frame));
    if (!added) return known->second;
    auto [found, is_new] = by_name_.try_emplace(key_of(frame), static_cast<uint32_t>(groups_.size()));
    if (is_new) {
      groups_.emplace_back().frame = frame;
      last_stack_.push_back(0);
    }
    return known.value() = found->second;
  }
  // Functions of one name in different files (static ones, main of two programs) are different functions.
  std::string key_of(const NameFrame* frame) const {
    if (frame == nullptr) return "";
    const std::string module = frame->module == kNoModule ? "" : names_.map().path(frame->module);
    return by_ == GroupBy::kModule ? module + "\n" : module + "\n" + frame->function;
  }

  Names& names_;
  GroupBy by_;
  uint32_t stack_ = 0;  // how many there were
  std::vector<AllocationGroup> groups_;
  std::vector<uint32_t> last_stack_;  // by group: the last one that was added to its total
  NumberMap<uint32_t> by_frame_;      // Names gives the same frame for the same address
  TextMap<uint32_t> by_name_;
};

}  // namespace

void AllocationSums::add(const StackAllocations& stack) {
  allocations += stack.allocations;
  bytes += stack.bytes;
  temporary += stack.temporary;
  live_blocks += stack.live_blocks;
  live_bytes += stack.live_bytes;
  peak_bytes += stack.peak_bytes;
}

std::vector<AllocationGroup> group_allocations(const Allocations& heap, Names& names, GroupBy by,
                                               const std::function<void()>& step) {
  Grouping grouping(names, by);
  for (const StackAllocations& stack : heap.stacks()) {
    grouping.add(stack);
    step();
  }
  std::vector<AllocationGroup> groups = grouping.take();
  std::stable_sort(groups.begin(), groups.end(), [](const AllocationGroup& a, const AllocationGroup& b) {
    return a.self.bytes != b.self.bytes ? a.self.bytes > b.self.bytes : a.total.bytes > b.total.bytes;
  });
  return groups;
}

}  // namespace penna

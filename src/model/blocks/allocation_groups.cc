// SPDX-License-Identifier: MIT
// See allocation_groups.h.
#include "model/blocks/allocation_groups.h"

#include <utility>

#include "base/check.h"

namespace penna {
namespace {

// Groups by the frames in the stacks.
class FrameGroups {
 public:
  FrameGroups(Names& names, GroupBy by) : names_(names), by_(by) {}

  // Returns the group that its `self` goes to.
  uint32_t add(const StackAllocations& stack) {
    const NamedStack named = names_.stack(stack.process, stack.stack);
    ++stack_;
    const NameFrame* origin = names_.origin(stack.process, stack.stack);
    const uint32_t own = group_of(origin);
    groups_[own].self.add(stack);
    if (origin == nullptr) add_total(origin, stack);
    if (origin != nullptr)
      for (const NameFrame* frame : named.frames)
        if (frame == origin || frame->role == FrameRole::kOwn) add_total(frame, stack);
    return own;
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
  // Functions with the same name in different files (static ones, main of two programs) are different functions.
  std::string key_of(const NameFrame* frame) const {
    if (frame == nullptr) return "";
    const std::string module = frame->module == kNoModule ? "" : names_.map().path(frame->module);
    switch (by_) {
      case GroupBy::kModule: return module + "\n";
      case GroupBy::kFile: return frame->file.empty() ? module + "\n" : "\n" + frame->file;
      default: return module + "\n" + frame->full_name();
    }
  }

  Names& names_;
  GroupBy by_;
  uint32_t stack_ = 0;  // number of stacks seen
  std::vector<AllocationGroup> groups_;
  std::vector<uint32_t> last_stack_;  // by group: the last stack added to its total
  NumberMap<uint32_t> by_frame_;      // Names returns the same frame for the same address
  TextMap<uint32_t> by_name_;
};

// Groups by context, in the order in which the contexts appear.
class ContextGroups {
 public:
  uint32_t add(const StackAllocations& stack) {
    auto [found, is_new] = by_context_.try_emplace(stack.context, static_cast<uint32_t>(groups_.size()));
    if (is_new) groups_.emplace_back().context = stack.context;
    groups_[found->second].self.add(stack);
    return found->second;
  }
  std::vector<AllocationGroup> take() {
    for (AllocationGroup& group : groups_) group.total = group.self;
    return std::move(groups_);
  }

 private:
  std::vector<AllocationGroup> groups_;
  NumberMap<uint32_t> by_context_;
};

// The total of a call includes those of the calls it made; parents come before their children. What was allocated in no
// recorded call (node 0) has only its own as total.
std::vector<AllocationGroup> with_callees(std::vector<AllocationGroup> groups, const CallTree& tree) {
  const std::vector<CallNode>& nodes = tree.nodes();
  std::vector<AllocationSums> totals(nodes.size());
  std::vector<bool> known(nodes.size());
  for (const AllocationGroup& group : groups) {
    totals[group.context].add(group.self);
    known[group.context] = true;
  }
  for (size_t i = nodes.size(); i-- > 1;)
    if (nodes[i].parent != 0) totals[nodes[i].parent].add(totals[i]);
  for (AllocationGroup& group : groups) group.total = totals[group.context];
  for (uint32_t i = 1; i < nodes.size(); ++i)
    if (!known[i] && totals[i].allocations != 0) groups.push_back({nullptr, i, {}, totals[i]});
  return groups;
}

}  // namespace

AllocationGroups group_allocations(const Allocations& heap, Names& names, const Grouping& how) {
  FrameGroups by_frame(names, how.by);
  ContextGroups by_context;
  const bool has_context = how.by >= GroupBy::kProcess;
  AllocationGroups result;
  for (const StackAllocations& stack : heap.stacks()) {
    uint32_t group = AllocationGroups::kNone;
    if (!how.keep || how.keep(stack)) group = has_context ? by_context.add(stack) : by_frame.add(stack);
    result.of_slot.push_back(group);
    how.step();
  }
  result.groups = has_context ? by_context.take() : by_frame.take();
  if (how.by == GroupBy::kCall) {
    PENNA_CHECK(how.tree != nullptr);
    result.groups = with_callees(std::move(result.groups), *how.tree);
  }
  return result;
}

}  // namespace penna

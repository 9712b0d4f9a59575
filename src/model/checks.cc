// SPDX-License-Identifier: MIT
// See checks.h.
#include "model/checks.h"

#include <algorithm>

#include "base/check.h"
#include "model/stack_matcher.h"

namespace penna {
namespace {

// One of each stack, whatever its contexts are.
void blame(Verdict& verdict, NumberMap<size_t>& known, const StackAllocations& stack, uint64_t amount) {
  if (amount == 0) return;
  auto [found, added] = known.try_emplace(pair_key(stack.process, stack.stack), verdict.blames.size());
  if (added) verdict.blames.push_back({stack.process, stack.stack, 0});
  verdict.blames[found->second].amount += amount;
}

void sort_blames(Verdict& verdict) {
  std::stable_sort(verdict.blames.begin(), verdict.blames.end(),
                   [](const Blame& a, const Blame& b) { return a.amount > b.amount; });
}

}  // namespace

Verdict check_leak(const Allocations& heap, LeakSuppressor* suppressor, Verdict::Unit unit, uint64_t allowed) {
  Verdict verdict;
  verdict.unit = unit;
  verdict.allowed = allowed;
  NumberMap<size_t> known;
  for (const StackAllocations& stack : heap.stacks()) {
    if (stack.live_blocks == 0) continue;
    if (suppressor != nullptr && suppressor->suppresses(stack.process, stack.stack)) continue;
    const uint64_t amount = unit == Verdict::Unit::kBytes ? stack.live_bytes : stack.live_blocks;
    verdict.found += amount;
    blame(verdict, known, stack, amount);
  }
  sort_blames(verdict);
  return verdict;
}

Verdict check_peak(const Allocations& heap, uint64_t allowed) {
  Verdict verdict;
  verdict.unit = Verdict::Unit::kBytes;
  verdict.allowed = allowed;
  uint32_t largest = 0;
  const auto processes = heap.processes();
  for (uint32_t i = 0; i < processes.size(); ++i)
    if (processes[i].peak_bytes > processes[largest].peak_bytes) largest = i;
  if (processes.empty()) return verdict;
  verdict.found = processes[largest].peak_bytes;
  NumberMap<size_t> known;
  for (const StackAllocations& stack : heap.stacks())
    if (stack.process == largest) blame(verdict, known, stack, stack.peak_bytes);
  sort_blames(verdict);
  return verdict;
}

std::vector<Verdict> check_allocations(const Recording& recording, const Allocations& heap, Names& names,
                                       const CallTree* tree, const std::vector<CallLimit>& limits) {
  PENNA_CHECK(limits.size() <= kMostCallLimits);
  std::vector<Verdict> verdicts(limits.size());
  std::vector<NumberMap<size_t>> known(limits.size());
  StackMatcher in_stack(recording, names, [&](const NameFrame& frame) { return limit_bits(limits, frame.function); });
  std::vector<uint64_t> in_calls;
  if (tree != nullptr) in_calls = limit_bits_of_calls(*tree, names, limits);
  uint64_t met = 0;
  for (const uint64_t bits : in_calls) met |= bits;
  for (const StackAllocations& stack : heap.stacks()) {
    uint64_t bits = in_stack.bits(stack.process, stack.stack);
    if (tree != nullptr) bits |= in_calls[stack.context];
    met |= bits;
    for (size_t i = 0; i < limits.size(); ++i) {
      if ((bits >> i & 1) == 0) continue;
      verdicts[i].found += stack.allocations;
      blame(verdicts[i], known[i], stack, stack.allocations);
    }
  }
  for (size_t i = 0; i < limits.size(); ++i) {
    verdicts[i].allowed = limits[i].allowed;
    if ((met >> i & 1) == 0)
      verdicts[i].doubt =
          std::string(tree != nullptr ? "no function of this name was called" : "no function of this name allocated") +
          ": it is kept, if the name is right";
    sort_blames(verdicts[i]);
  }
  return verdicts;
}

}  // namespace penna

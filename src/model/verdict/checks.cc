// SPDX-License-Identifier: MIT
// See checks.h.
#include "model/verdict/checks.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/count_text.h"
#include "model/events/summary.h"
#include "model/verdict/check_needs.h"

namespace penna {
namespace {

// Adds to the blame of a stack: one per stack, in whatever contexts.
void blame(Verdict& verdict, NumberMap<size_t>& known, uint32_t process, uint32_t stack, uint64_t amount) {
  if (amount == 0) return;
  auto [found, added] = known.try_emplace(pair_key(process, stack), verdict.blames.size());
  if (added) verdict.blames.push_back({process, stack, 0});
  verdict.blames[found->second].amount += amount;
}

}  // namespace

void sort_blames(Verdict& verdict) {
  std::stable_sort(verdict.blames.begin(), verdict.blames.end(),
                   [](const Blame& a, const Blame& b) { return a.amount > b.amount; });
}

void join_blames(Verdict& verdict, SameStacks& same) {
  NumberMap<size_t> known;
  for (const Blame& one : std::exchange(verdict.blames, {})) {
    const StackOfProcess first = same.first_like(one.process, one.stack);
    blame(verdict, known, first.process, first.stack, one.amount);
  }
  sort_blames(verdict);
}

LimitedFunctions::LimitedFunctions(const Recording& recording, Names& names, const CallTree* tree,
                                   const std::vector<CallLimit>& limits)
    : limits_(limits),
      in_stack_(recording, names,
                [this, &limits](const NameFrame& frame) {
                  see(frame.full_name());
                  return limit_bits(limits, frame.full_name());
                }),
      ends_(recording, names),
      by_calls_(tree != nullptr),
      verdicts_(limits.size()),
      known_(limits.size()),
      doubtful_(limits.size()) {
  PENNA_CHECK(limits.size() <= kMostCallLimits);
  for (const CallLimit& limit : limits) nearest_.emplace_back(limit.pattern.text());
  if (by_calls_) {
    in_calls_ = limit_bits_of_calls(*tree, names, limits);
    for (FunctionId id = 0; id < tree->functions().size(); ++id)
      see(names.full_function_name(tree->functions().place(id)));
  }
  for (const uint64_t bits : in_calls_) met_ |= bits;
}

void LimitedFunctions::see(const std::string& function) {
  for (NearestName& one : nearest_) one.see(name_for_pattern(function, one.pattern()));
}

void LimitedFunctions::add(uint32_t process, uint32_t stack, uint32_t node, uint64_t amount) {
  uint64_t bits = in_stack_.bits(process, stack);
  if (by_calls_) bits |= in_calls_[node];
  met_ |= bits;
  for (size_t i = 0; i < limits_.size(); ++i) {
    if ((bits >> i & 1) == 0) continue;
    verdicts_[i].found += amount;
    blame(verdicts_[i], known_[i], process, stack, amount);
  }
}

void LimitedFunctions::add_with_stack(uint32_t process, uint32_t stack, uint32_t node, uint64_t amount) {
  add(process, stack, node, amount);
  // The function may have been among the missing frames of an incomplete stack: limits whose function is not in the
  // rest are in doubt.
  if (ends_.is_complete(process, stack)) return;
  uint64_t bits = in_stack_.bits(process, stack);
  if (by_calls_) bits |= in_calls_[node];
  for (size_t i = 0; i < limits_.size(); ++i)
    if ((bits >> i & 1) == 0) doubtful_[i] += amount;
}

std::vector<Verdict> LimitedFunctions::verdicts(const char* op) {
  for (size_t i = 0; i < limits_.size(); ++i) {
    verdicts_[i].allowed = limits_[i].allowed;
    // A limit on a function that never appeared is trivially kept: most likely the name is wrong.
    if ((met_ >> i & 1) == 0)
      verdicts_[i].doubt = std::string("no function of this name ") + (by_calls_ ? "was called" : op) +
                           nearest_[i].hint() + ": it is kept, if the name is right";
    sort_blames(verdicts_[i]);
  }
  return std::move(verdicts_);
}

Verdict check_lost(const HealthReport& health, penna_event_class of, const char* what) {
  Verdict verdict;
  verdict.limit = std::string("lost ") + what + " events";
  verdict.found = add_counts(health.lost[of], health.write_lost[of]);
  if (verdict.found != 0) verdict.missing.push_back({"what they were is not known", true, true});
  return verdict;
}

std::optional<Verdict> check_gaps(const HealthReport& health) {
  Verdict verdict;
  verdict.limit = "gaps in the recording";
  verdict.found = uint64_t{health.damage.cut} + uint64_t{health.write_unknown} + uint64_t{!health.finished} +
                  (health.finished && !health.imported ? health.processes_without_end : 0);
  // health.inc says which counters mean a gap, so that a new one cannot be forgotten here.
  for (const HealthCounter& counter : health_counters())
    if ((counter.uses & kGap) != 0) verdict.found += counter.value(health);
  if (verdict.found == 0) return std::nullopt;
  verdict.missing.push_back({"what was in them is not known", true, true});
  return verdict;
}

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
    blame(verdict, known, stack.process, stack.stack, amount);
  }
  sort_blames(verdict);
  return verdict;
}

// Blames the stacks of the process with the largest peak, by what they held at that moment.
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
    if (stack.process == largest) blame(verdict, known, stack.process, stack.stack, stack.peak_bytes);
  sort_blames(verdict);
  return verdict;
}

Verdict check_alloc_rate(const Recording& recording, const Summary& summary, const Allocations& heap,
                         uint64_t allowed) {
  Verdict verdict;
  verdict.unit = Verdict::Unit::kBytes;
  verdict.allowed = allowed;
  std::vector<uint64_t> bytes(summary.processes.size());
  for (const StackAllocations& stack : heap.stacks()) bytes[stack.process] += stack.bytes;
  const auto in_a_second = [&](uint32_t process, uint64_t amount) {
    const ProcessSummary& life = summary.processes[process];
    const int64_t ns = recording.time().duration_ns(life.first_time, life.last_time);
    return static_cast<uint64_t>(static_cast<double>(amount) * 1e9 / static_cast<double>(std::max<int64_t>(ns, 1)));
  };
  uint32_t fastest = 0;
  for (uint32_t i = 0; i < bytes.size(); ++i) {
    if (in_a_second(i, bytes[i]) <= verdict.found) continue;
    verdict.found = in_a_second(i, bytes[i]);
    fastest = i;
  }
  NumberMap<size_t> known;
  for (const StackAllocations& stack : heap.stacks())
    if (stack.process == fastest && verdict.found != 0)
      blame(verdict, known, stack.process, stack.stack, in_a_second(fastest, stack.bytes));
  sort_blames(verdict);
  return verdict;
}

std::vector<Verdict> check_allocations(const Recording& recording, const Allocations& heap, Names& names,
                                       const CallTree* tree, const std::vector<CallLimit>& limits) {
  LimitedFunctions inside(recording, names, tree, limits);
  for (const StackAllocations& stack : heap.stacks())
    inside.add_with_stack(stack.process, stack.stack, stack.context, stack.allocations);
  std::vector<Verdict> verdicts = inside.verdicts("allocated");
  for (size_t i = 0; i < verdicts.size(); ++i)
    if (auto missing = missing_stacks(inside.doubtful(i), "the function"))
      verdicts[i].missing.push_back(std::move(*missing));
  return verdicts;
}

}  // namespace penna

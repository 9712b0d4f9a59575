// SPDX-License-Identifier: MIT
// See allocation_choice.h.
#include "model/blocks/allocation_choice.h"

#include "model/blocks/allocations.h"

namespace penna {
namespace {

class Lifetimes : public AllocationObserver {
 public:
  explicit Lifetimes(AllocationChoice& choice) : choice_(choice) {}
  void on_freed(const BlockEnd& end) override {
    if (!end.whole) return;
    const uint64_t ticks = end.time - end.block.time;
    if (ticks >= choice_.limits().min_ticks && ticks <= choice_.limits().max_ticks)
      choice_.let_live(end.block.thread, end.block.sequence);
  }

 private:
  AllocationChoice& choice_;
};

}  // namespace

AllocationChoice::AllocationChoice(const Recording& recording, Names& names, AllocationLimits limits)
    : limits_(std::move(limits)),
      stacks_(recording, names,
              [this](const NameFrame& frame) {
                bool any = false;
                for (size_t i = 0; i < limits_.stacks.size(); ++i) {
                  const bool matches = limits_.stacks[i].matches(frame.full_name());
                  any |= matches;
                  asked_[i].met |= matches;
                  if (!asked_[i].met)
                    asked_[i].nearest.see(name_for_pattern(frame.full_name(), limits_.stacks[i].text()));
                }
                return uint64_t{any};
              }),
      ends_(recording, names),
      lives_(recording.threads().size()) {
  for (const FunctionPattern& pattern : limits_.stacks) asked_.push_back({NearestName(pattern.text())});
}

void AllocationChoice::let_live(uint32_t thread, uint64_t sequence) {
  std::vector<bool>& bits = lives_[thread];
  if (sequence >= bits.size()) bits.resize(sequence + 1);
  bits[sequence] = true;
}

std::vector<NearestName> AllocationChoice::unmet() const {
  std::vector<NearestName> patterns;
  for (const Asked& one : asked_)
    if (!one.met) patterns.push_back(one.nearest);
  return patterns;
}

void learn_lifetimes(const Recording& recording, AllocationChoice& choice, const std::function<void()>& step) {
  if (!choice.limits().asks_lifetime()) return;
  Lifetimes lifetimes(choice);
  Allocations heap(recording, {.context = {}, .family = choice.limits().family, .observer = &lifetimes});
  for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, [&](const Event& event) {
    step();
    heap(event);
  });
  heap.finish();
  if (choice.limits().max_ticks != std::numeric_limits<uint64_t>::max()) return;
  heap.each_live([&](uint32_t, uint64_t, const HeapBlock& block) { choice.let_live(block.thread, block.sequence); });
}

}  // namespace penna

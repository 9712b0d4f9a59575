// SPDX-License-Identifier: MIT
// See same_stacks.h.
#include "model/names/same_stacks.h"

#include <fmt/format.h>

namespace penna {
namespace {

constexpr uint32_t kEnds = 64;           // lower numbers say how stacks end
constexpr uint32_t kEntry = 2;           // in the process's entry code
constexpr uint32_t kOther = UINT32_MAX;  // instead of a text

}  // namespace

std::string SameStacks::line_of(const NameFrame& frame) const {
  const ModuleId module = frame.inlined ? 0 : frame.module + 1;
  if (folds_ && names_.is_folded(frame)) return fmt::format("{}\n{}\n", names_.line_name(frame), module);
  return fmt::format("{}\n{}\n{} {}\n", frame.function, frame.file, frame.line, module);
}

// The text of the lines that the fold shows, or of all lines without a fold. The lowest bits of an address are free for
// the state.
uint32_t SameStacks::text_of(const NameFrames& frames, StackFold* fold) {
  constexpr uint64_t kNoFold = 3;
  const uint64_t state = fold == nullptr ? kNoFold : static_cast<uint64_t>(fold->state());
  const auto [known, added] = frames_.try_emplace(reinterpret_cast<uintptr_t>(&frames) + state);
  if (added) {
    std::string text;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      if (fold == nullptr || (!frames.back().is_agents && fold->shows(frame->role))) text += line_of(*frame);
    Text& lines = known.value();
    if (!text.empty())
      lines.text = texts_.try_emplace(std::move(text), static_cast<uint32_t>(texts_.size()) + 1).first->second;
    if (fold != nullptr) lines.fold = fold->state();
  }
  if (fold != nullptr) *fold = StackFold(known->second.fold);
  return known->second.text;
}

uint32_t SameStacks::end_of(uint32_t process, const StackNode& outermost) {
  if (outermost.cut) return 1;
  const bool entry =
      outermost.end == PENNA_STACK_NO_RULE && names_.is_entry(process, outermost.pc, outermost.generation);
  return entry ? kEntry : kEntry + 1 + outermost.end % (kEnds - kEntry - 1);
}

uint32_t SameStacks::numbered(uint32_t outer, uint32_t text) {
  return numbers_.try_emplace(pair_key(outer, text), kEnds + static_cast<uint32_t>(numbers_.size())).first->second;
}

// Folds like Names::shown().
SameStacks::Number SameStacks::outside_of(uint32_t process, const StackNode& outermost) {
  const uint32_t end = end_of(process, outermost);
  const NameFrames& frames = names_.frame(process, outermost.pc, outermost.generation);
  const bool is_complete = end == kEntry || (!outermost.cut && outermost.end == PENNA_STACK_COMPLETE);
  return {end, end, StackFold(is_complete || frames.back().role == FrameRole::kStart).state()};
}

SameStacks::Number SameStacks::inside_of(const Number& outer, const NameFrames& frames) {
  Number number = outer;
  number.whole = numbered(outer.whole, text_of(frames, nullptr));
  if (!folds_) return number;
  StackFold fold(outer.fold);
  if (const uint32_t text = text_of(frames, &fold); text != 0) number.shown = numbered(outer.shown, text);
  number.fold = fold.state();
  return number;
}

uint32_t SameStacks::number_of(uint32_t process, uint32_t stack) {
  way_.clear();
  Number number;  // that of no stack
  for (auto node = recording_.stack_node(process, stack); node; node = recording_.stack_node(process, stack)) {
    const uint64_t key = pair_key(process, stack);
    if (const auto known = known_.find(key); known != known_.end()) {
      number = known->second;
      break;
    }
    way_.emplace_back(key, &names_.frame(process, node->pc, node->generation));
    if (node->cut || node->parent == 0) number = outside_of(process, *node);
    if (node->cut) break;
    stack = node->parent;
  }
  for (auto step = way_.rbegin(); step != way_.rend(); ++step) {
    number = inside_of(number, *step->second);
    known_.insert_or_assign(step->first, number);
  }
  return !folds_ || StackFold(number.fold).saw_only_library() ? number.whole : number.shown;
}

bool SameStacks::is_other(uint32_t process, uint32_t stack) {
  if (!folds_ || !is_other_) return false;
  const auto [known, added] = others_.try_emplace(pair_key(process, stack), false);
  if (added) known.value() = is_other_(process, stack);
  return known->second;
}

StackOfProcess SameStacks::first_like(uint32_t process, uint32_t stack) {
  uint32_t number = stack == 0 ? 0 : number_of(process, stack);
  if (is_other(process, stack)) number = numbered(number, kOther);
  return first_.try_emplace(pair_key(joins_processes() ? 0 : process, number), StackOfProcess{process, stack})
      .first->second;
}

}  // namespace penna

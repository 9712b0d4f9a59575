// SPDX-License-Identifier: MIT
// See remote_stack.h.
#include "breakpoint/remote_stack.h"

#include <cstring>

#include "unwind/arch.h"

namespace penna {

using unwind::Arch;
using unwind::FrameRule;
using WordPtr = RemotePtr<uint64_t>;

// Little at first, because most walks are short; reading up to a page past the end of the mapping is not an error.
bool StackCopy::copy_until(RemoteBytes end) {
  constexpr uint64_t kPage = 4096, kMost = uint64_t{8} << 20;
  constexpr size_t kFirst = 512, kNext = 4096;
  while (from_ + bytes_.size() < end && !is_all_ && bytes_.size() < kMost) {
    const size_t had = bytes_.size();
    const RemoteBytes at = from_ + had;
    const uint64_t wanted = had == 0 ? kFirst : kNext - at.number() % kPage % kNext;
    bytes_ += memory_.part(at, wanted);
    is_all_ = bytes_.size() < had + wanted;
  }
  return from_ + bytes_.size() >= end;
}

bool StackCopy::word(RemotePtr<uint64_t> at, uint64_t* value) {
  const auto begin = at.as<uint8_t>(), end = (at + 1).as<uint8_t>();
  if (begin < from_ || end < begin || !copy_until(end)) return false;
  std::memcpy(value, bytes_.data() + bytes_between(from_, begin), sizeof *value);
  return true;
}

const TracedModule* RemoteStack::module_at(uint64_t pc) const {
  for (const TracedModule& module : modules_)
    if (module.contains(pc)) return &module;
  return nullptr;
}

const FrameRule& RemoteStack::rule_of(uint64_t pc) {
  const auto [found, is_new] = rules_.try_emplace(pc);
  if (is_new) {
    const TracedModule* module = module_at(pc);
    found->second = module != nullptr ? module->rule_at(pc) : unwind::special_rule(FrameRule::kNone);
  }
  return found->second;
}

bool RemoteStack::step_by_signal(StackCopy& stack, WalkStart* at) const {
  WalkStart interrupted;
  // The kernel's frame has the interrupted instruction's own registers, at the ucontext's offsets.
  interrupted.exact = true;
  if (!stack.word(WordPtr(at->sp + Arch::kSignalPc), &interrupted.pc) ||
      !stack.word(WordPtr(at->sp + Arch::kSignalSp), &interrupted.sp) ||
      !stack.word(WordPtr(at->sp + Arch::kSignalFp), &interrupted.fp))
    return false;
  *at = interrupted;
  return true;
}

// For code without unwind information: [fp] is the caller's, [fp + 8] the return address. rbp may hold anything: so it
// counts only if a call instruction precedes the address.
bool RemoteStack::step_by_frame_pointer(StackCopy& stack, WalkStart* at) const {
  uint64_t fp = 0, pc = 0;
  const WordPtr frame(at->fp);
  if (at->fp < at->sp || at->fp % 8 != 0 || !stack.word(frame, &fp) || !stack.word(frame + 1, &pc)) return false;
  const TracedModule* module = module_at(pc);
  if (module == nullptr || !module->is_behind_call(pc)) return false;
  *at = {pc, at->fp + 16, fp, false};
  return true;
}

// False: there is no caller, and *end says why.
bool RemoteStack::step(StackCopy& stack, WalkStart* at, penna_stack_end* end) {
  // A return address may belong to the next function, after a call that never returns: the rule is the call's.
  const FrameRule& rule = rule_of(at->pc - !at->exact);
  *end = PENNA_STACK_BAD_MEMORY;
  if (rule.is(FrameRule::kSignal)) return step_by_signal(stack, at);
  if (rule.is_special()) {
    *end = rule.is(FrameRule::kEnd) ? PENNA_STACK_COMPLETE : PENNA_STACK_NO_RULE;
    return rule.is(FrameRule::kNone) && step_by_frame_pointer(stack, at);
  }
  WalkStart caller;
  uint64_t cfa = ((rule.flags & FrameRule::kBaseFp) != 0 ? at->fp : at->sp) + static_cast<uint64_t>(rule.cfa_offset);
  if ((rule.flags & FrameRule::kDeref) != 0 && !stack.word(WordPtr(cfa), &cfa)) return false;
  // Stacks grow down, so each caller is further up. That also ends a walk through damaged memory.
  if (cfa <= at->sp || !stack.word(WordPtr(cfa + static_cast<uint64_t>(Arch::kReturnFromCfa)), &caller.pc))
    return false;
  caller.sp = cfa;
  // 0: a rule that needs it will find no memory there.
  caller.fp = (rule.flags & FrameRule::kFpLost) != 0 ? 0 : at->fp;
  caller.exact = (rule.flags & FrameRule::kExact) != 0;
  const uint64_t saved_at =
      ((rule.flags & FrameRule::kFpAtCfa) != 0 ? cfa : at->fp) + static_cast<uint64_t>(rule.fp_offset);
  if (!rule.keeps_fp() && (rule.flags & FrameRule::kFpLost) == 0 && !stack.word(WordPtr(saved_at), &caller.fp))
    return false;
  *at = caller;
  *end = PENNA_STACK_COMPLETE;
  return caller.pc != 0;
}

const RemoteStack::Walked& RemoteStack::walk(StackCopy& stack, WalkStart at, size_t most_frames) {
  walked_.pcs.clear();
  walked_.pcs.push_back(at.pc);
  while (step(stack, &at, &walked_.end)) {
    if (walked_.pcs.size() >= most_frames) {
      walked_.end = PENNA_STACK_DEPTH_LIMIT;
      break;
    }
    walked_.pcs.push_back(at.pc);
  }
  return walked_;
}

}  // namespace penna

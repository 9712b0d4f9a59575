// SPDX-License-Identifier: MIT
// Steps that are not plain: see step.h.
#include "unwind/module.h"
#include "unwind/step.h"

namespace penna::unwind {
namespace {

uintptr_t load(uintptr_t address) { return *reinterpret_cast<const uintptr_t*>(address); }

bool in_range(const StackRange& range, uintptr_t address) {
  return address % 8 == 0 && address >= range.low && address < range.high && range.high - address >= 8;
}

// The full form of a rule; a wide one is parsed again, because it does not fit the cache.
FrameRule full_rule(Rule rule, uintptr_t key) {
  const FrameRule full = unpack(rule);
  return full.is(FrameRule::kWide) ? rule_of_pc(key) : full;
}

// The CFA, or the address of the word that holds it (kDeref).
uintptr_t base_of(const FrameRule& rule, uintptr_t sp, uintptr_t fp) {
  const uintptr_t base = (rule.flags & FrameRule::kBaseFp) ? fp : sp;
  return base + static_cast<uintptr_t>(intptr_t{rule.cfa_offset});
}

// Where the caller's fp was saved; 0: it is not restored from memory.
uintptr_t fp_slot_of(const FrameRule& rule, uintptr_t cfa, uintptr_t fp) {
  const auto offset = static_cast<uintptr_t>(intptr_t{rule.fp_offset});
  if (rule.flags & FrameRule::kFpAtCfa) return cfa + offset;
  if (rule.flags & FrameRule::kFpAtFp) return fp + offset;
  return 0;
}

bool apply(const FrameRule& rule, Registers& frame, StackRange& range, StackMap& stacks) {
  uintptr_t cfa = base_of(rule, frame.sp, frame.fp);
  if (rule.flags & FrameRule::kDeref) {
    if (!in_range(range, cfa)) return false;
    cfa = load(cfa);
  }
  if (cfa <= frame.sp || cfa % 8 != 0 || !stacks.reach(range, cfa)) return false;
  const uintptr_t fp_slot = fp_slot_of(rule, cfa, frame.fp);
  if (fp_slot != 0 && !in_range(range, fp_slot)) return false;
  frame.pc = load(cfa + Arch::kReturnFromCfa);
  frame.sp = cfa;
  if (fp_slot != 0) frame.fp = load(fp_slot);
  if (rule.flags & FrameRule::kFpLost) frame.fp = 0;
  frame.exact = (rule.flags & FrameRule::kExact) != 0;
  return true;
}

// The interrupted registers from the ucontext that the kernel left at sp.
bool apply_signal(Registers& frame, StackRange& range, StackMap& stacks, bool& crossed) {
  const uintptr_t context = frame.sp;
  if (!in_range(range, context) || !stacks.reach(range, context + Arch::kSignalPc + 8)) return false;
  const Registers interrupted{load(context + Arch::kSignalPc), load(context + Arch::kSignalSp),
                              load(context + Arch::kSignalFp), true};
  if (interrupted.sp % 8 != 0) return false;
  crossed = !range.contains(interrupted.sp) || interrupted.sp <= context;
  if (crossed) {
    range = stacks.find(interrupted.sp);
    if (!range.contains(interrupted.sp)) return false;
  }
  frame = interrupted;
  return true;
}

bool has_cfi(const RuleCache& cache, uintptr_t key) {
  const Rule cached = cache.find(key);
  return !(cached.empty() ? rule_of_pc(key) : unpack(cached)).is(FrameRule::kNone);
}

// Whether `to`, an address in the module, can be where a call returns.
bool is_behind_call(const dl_find_object& module, uintptr_t to) {
  return is_code(module, to - kLongestCall, to) && preceded_by_call(reinterpret_cast<const uint8_t*>(to));
}

// Whether `to` can be the return address of the call that led to the code around `from`, which has no CFI.
enum class Call : uint8_t { no, possible, plausible };

// The danger is a frame pointer that still belongs to a function further out: a frame would be left out silently. So
// only a direct call to code without CFI is plausible, and into a module only one to just before `from`; generated code
// (no module) may also be called indirectly, and by generated code.
Call judge(const RuleCache& cache, uintptr_t from, uintptr_t to) {
  dl_find_object caller, callee;
  const bool generated = !find_module(from, callee);
  if (!find_module(to - 1, caller)) return generated ? Call::plausible : Call::possible;
  if (!is_behind_call(caller, to)) return Call::no;
  const uintptr_t target = direct_call_target(reinterpret_cast<const uint8_t*>(to));
  if (target == 0) return generated ? Call::plausible : Call::possible;
  if (has_cfi(cache, target)) return generated ? Call::no : Call::possible;  // which may have jumped on
  constexpr uintptr_t kLongestFunction = 1 << 16;
  return generated || (target <= from && from - target < kLongestFunction) ? Call::plausible : Call::possible;
}

// The beginning of the function around `pc`, if it is one that builds a frame: the last such one before it. 0: there is
// none near.
uintptr_t frame_builder_before(const dl_find_object& module, uintptr_t pc) {
  constexpr uintptr_t kStep = 256, kFarthest = 1 << 14;
  for (uintptr_t end = pc; pc - end < kFarthest && is_code(module, end - kStep, end + kLongestFrameBuilder);
       end -= kStep)
    for (uintptr_t at = end; at > end - kStep; --at)
      if (builds_frame(reinterpret_cast<const uint8_t*>(at - 1))) return at - 1;
  return 0;
}

// Whether fp is that of the function around the frame's pc, whichever function called it. If that function had not
// built a frame, its return address would lie between sp and another function's frame. So it has built one if nothing
// there can be that address: none follows an indirect call, or a call of this function. Nothing is known about
// generated code.
bool built_its_frame(const Registers& frame) {
  constexpr uintptr_t kMostBytes = 4096;
  dl_find_object module, caller;
  if (!find_module(frame.pc, module) || frame.fp - frame.sp > kMostBytes) return false;
  const uintptr_t start = frame_builder_before(module, frame.pc);
  if (start == 0) return false;
  for (uintptr_t at = frame.sp; at < frame.fp; at += 8) {
    const uintptr_t value = load(at);
    if (value < 4096 || !find_module(value - 1, caller) || !is_behind_call(caller, value)) continue;
    const uintptr_t target = direct_call_target(reinterpret_cast<const uint8_t*>(value));
    if (target == 0 || target - (start - kEndbrBytes) <= frame.pc - (start - kEndbrBytes)) return false;
  }
  return true;
}

// A frame without CFI that keeps a frame pointer: [fp] = caller's fp, [fp + 8] = return address.
bool guess(const RuleCache& cache, const Registers& frame, StackRange& range, StackMap& stacks) {
  if (frame.fp < frame.sp || frame.fp % 8 != 0 || !range.contains(frame.fp)) return false;
  if (!stacks.reach(range, frame.fp + 16)) return false;
  const uintptr_t caller = load(frame.fp + 8);
  if (caller <= 4096 || caller >> Arch::kPcBits != 0) return false;
  const Call call = judge(cache, frame.pc, caller);
  return call == Call::plausible || (call == Call::possible && built_its_frame(frame));
}

End reason(const FrameRule& rule) {
  if (rule.is(FrameRule::kEnd)) return End::complete;
  return rule.is(FrameRule::kNone) ? End::no_rule : End::unsupported;
}

constexpr FrameRule kFramePointerRule{FrameRule::kBaseFp | FrameRule::kFpAtCfa, 16, -16};

}  // namespace

Stepped slow_step(const RuleCache& cache, Rule& rule, Registers& frame, StackRange& range, StackMap& stacks, End& why) {
  const FrameRule full = full_rule(rule, rule_key(frame));
  why = End::bad_memory;
  if (full.is(FrameRule::kSignal)) {
    bool crossed = false;
    if (!apply_signal(frame, range, stacks, crossed)) return Stepped::end;
    return crossed ? Stepped::crossed : Stepped::proven;
  }
  if (full.is(FrameRule::kNone) && guess(cache, frame, range, stacks)) {
    rule = pack(kFramePointerRule);
    return apply(kFramePointerRule, frame, range, stacks) ? Stepped::guessed : Stepped::end;
  }
  if (full.is_special()) {
    why = reason(full);
    return Stepped::end;
  }
  return apply(full, frame, range, stacks) ? Stepped::proven : Stepped::end;
}

size_t words_of_step(Rule rule, const Registers& frame, const Registers& caller, bool caller_needs_fp, Word* words) {
  const FrameRule full = full_rule(rule, rule_key(frame));
  size_t count = 0;
  if (full.is(FrameRule::kStandIn)) return 0;  // nothing was read
  const auto add = [&](uintptr_t address, uintptr_t value) {
    words[count++] = {reinterpret_cast<const uintptr_t*>(address), value};
  };
  if (full.is(FrameRule::kSignal)) {
    add(frame.sp + Arch::kSignalPc, caller.pc);
    add(frame.sp + Arch::kSignalSp, caller.sp);
    if (caller_needs_fp) add(frame.sp + Arch::kSignalFp, caller.fp);
    return count;
  }
  if (full.flags & FrameRule::kDeref) add(base_of(full, frame.sp, frame.fp), caller.sp);
  add(caller.sp + static_cast<uintptr_t>(Arch::kReturnFromCfa), caller.pc);
  const uintptr_t fp_slot = fp_slot_of(full, caller.sp, frame.fp);
  if (fp_slot != 0 && caller_needs_fp) add(fp_slot, caller.fp);
  return count;
}

}  // namespace penna::unwind

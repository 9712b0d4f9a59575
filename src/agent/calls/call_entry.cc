// SPDX-License-Identifier: MIT
// The slow paths of calls_x86_64.S: new pairs of caller and function, functions that were entered by a tail call,
// unusual frames, full chunks, exceptions and thread cancellation.
//
// Invariant: nothing here allocates, locks, or waits except for room in the channel. The caller saves the vector state
// of the function that is about to run (penna_point_preserving).
#include "agent/calls/call_values.h"
#include "agent/core/return_trampolines.h"
#include "agent/core/writer.h"
#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/loader.h"
#include "agent/modules/modules.h"
#include "agent/modules/near_ranges.h"
#include "agent/modules/stack_readers.h"
#include "agent/stacks/unwinder.h"
#include "unwind/module.h"

namespace penna::agent {

// calls_x86_64.S relies on these.
static_assert(offsetof(Process, armed) == 0 && offsetof(Process, chunks) == 8 && offsetof(Thread, cursor) == 0);
static_assert(offsetof(penna_chunk, time_begin) == 8 && offsetof(penna_chunk, pc_high) == 64);
static_assert(PENNA_CHUNK_BYTES == 0x10000 && class_bit(PENNA_CALLS) == 1 && PENNA_CALL_TIME_BITS == 30);
static_assert(PENNA_TAG_ENTRY == 1 && PENNA_TAG_EXIT == 2);

namespace {

// The entry of the function that contains `resume`, from its unwind information; without any, `resume` itself, which a
// symbol table resolves to the same function.
uintptr_t find_function(uintptr_t resume) {
  dl_find_object module;
  unwind::Fde fde;
  if (const uintptr_t known = function_of_stub(resume)) return known;
  if (!unwind::find_module(resume, module)) return resume;
  const unwind::EhFrame frames = unwind::eh_frame_of(module);
  // - 1: a call that never returns may be the last instruction of its function.
  return frames.frame.size != 0 && unwind::find_fde(frames, resume - 1, fde) ? fde.begin : resume;
}

LinkedFunction function_of(uintptr_t resume) {
  const uintptr_t function = find_function(resume);
  ensure_module(function);
  return {function, has_captures(function) ? kAsks : 0};
}

// Where a function that has built its frame keeps its return address, and the flags to use for it. That is the word
// above the frame pointer, unless the stack was realigned: then that word is a copy, and the real one's place is in the
// frame.
struct ReturnSlot {
  uintptr_t* slot = nullptr;
  uintptr_t flags = 0;
};
ReturnSlot return_slot(uintptr_t frame, uintptr_t resume) {
  const unwind::FrameRule rule = unwind::rule_of_pc(resume);
  if (rule.is(unwind::FrameRule::kNone)) return {reinterpret_cast<uintptr_t*>(frame) + 1, kJumps};  // as -pg promises
  if (rule.is_special() || (rule.flags & unwind::FrameRule::kBaseFp) == 0) return {};
  uintptr_t cfa = frame + static_cast<uintptr_t>(intptr_t{rule.cfa_offset});
  const bool usual = (rule.flags & unwind::FrameRule::kDeref) == 0;
  if (!usual) cfa = *reinterpret_cast<uintptr_t*>(cfa);
  return {reinterpret_cast<uintptr_t*>(cfa) - 1, usual && rule.cfa_offset == 16 ? kJumps : kJumps | kAsks};
}

// True for calls that must not be recorded although they go through a function that dlsym returned: calls from inside
// its own module (not --libcalls), calls through an import (recorded already, by the stub that jumped here), and the
// agent's own.
bool passes(uintptr_t caller, uintptr_t resume) {
  const uintptr_t function = function_of_pointer_stub(resume);
  if (function == 0) return false;
  const link_map* from = map_of(is_trampoline(caller) ? link_of_trampoline(caller).function : caller);
  if (from == nullptr || (from != map_of(function) && !is_ours(from))) return false;
  pass_pair(caller, resume);
  return true;
}

// From the first trampoline on, functions with the other kind of hook (calls.cc) check whether their entry was recorded
// already.
void look_for_second_hooks() { end_calls_at_once(); }

// A second call of the same hook is another call: a function that tail-calls itself.
bool is_recorded_twice(uintptr_t caller, uintptr_t resume) {
  return is_trampoline(caller) && link_of_trampoline(caller).resume != resume &&
         is_entered_already(find_function(resume), caller);
}

// A function that is entered by a tail call ends the one that jumped: both have the same return address, which by now
// is the trampoline of the one that jumped.
uintptr_t end_jumpers(uintptr_t caller) {
  while (is_trampoline(caller)) {
    const ReturnLink& jumper = link_of_trampoline(caller);
    write_call(jumper.function, PENNA_TAG_EXIT);
    caller = jumper.caller;
  }
  return caller;
}

}  // namespace

extern "C" {

// Handles a pair that calls_x86_64.S does not know, or whose link has kAsks. `frame`: the frame pointer if the function
// has built its frame, else 0. Records the entry. Returns the trampoline that is to call the rest of the function; 0:
// continue without one.
__attribute__((visibility("hidden"), used)) uintptr_t penna_call_meet(const CallRegisters* registers, uintptr_t frame) {
  if (!recording(PENNA_CALLS) || return_addresses_are_read()) return 0;
  look_for_second_hooks();
  const uintptr_t resume = registers->resume;
  const Chain chain = frame == 0 ? chain_of(resume) : Chain::kNone;
  if (frame == 0 && passes(registers->caller, resume)) return 0;
  const ReturnSlot at = frame != 0 ? return_slot(frame, resume) : ReturnSlot{};
  if ((frame != 0 && at.slot == nullptr) || chain == Chain::kUnclear) return lose_call(PENNA_LOSS_SHAPE), 0;
  // Three places for the caller's address: in the function's frame, on top of the stack, or above a saved r10.
  const uintptr_t* const place = at.slot != nullptr ? at.slot : &registers->caller + (chain == Chain::kKept);
  uintptr_t caller = *place;
  if (is_recorded_twice(caller, resume)) {
    if (at.slot == nullptr && chain == Chain::kNone) pass_pair(caller, resume);
    return 0;
  }
  const uintptr_t jumper = caller;
  caller = end_jumpers(caller);
  const ReturnLink* link = return_link(caller, resume, at.flags, function_of);
  if (link == nullptr) return lose_call(PENNA_LOSS_PAIRS), 0;
  if (jumper != caller && chain == Chain::kNone) add_follower(jumper, *link);
  write_call(link->function, PENNA_TAG_ENTRY);
  if ((link->way & kAsks) != 0) {
    // The word that the frame pointer points to is the caller's frame pointer.
    const uintptr_t fp = frame != 0 ? *reinterpret_cast<uintptr_t*>(frame) : registers->frame_pointer();
    write_arguments(link->function, *registers, {caller, reinterpret_cast<uintptr_t>(place + 1), fp, false});
  }
  const uintptr_t trampoline = link->way & ~kWayFlags;
  if (at.slot != nullptr) *at.slot = trampoline + kReturnsAt;
  return trampoline;
}

// The exit of a call whose link has kAsks.
__attribute__((visibility("hidden"), used)) void penna_call_leave(const CallRegisters* registers,
                                                                  const ReturnLink* link) {
  write_result(link->function, *registers);
  write_call(link->function, PENNA_TAG_EXIT);
}

__attribute__((visibility("hidden"), used)) void penna_call_in_new_chunk(uintptr_t function, penna_tag tag,
                                                                         uint64_t at) {
  write_call_in_new_chunk(function, tag, at);
}

__attribute__((visibility("hidden"), used)) void penna_call_far(uintptr_t function, penna_tag tag, uint64_t* word) {
  write_long_call(function, tag, penna_now(), word);
}

void penna_call_unwind_on();
__attribute__((visibility("hidden"))) void (*penna_call_resume)(void* exception);

// The personality routine of the trampolines (Itanium C++ ABI, exception handling, 1.2 and 2.5.2): called twice for
// each frame that an exception passes; the second time the frame is left.
//
// Unwinders identify the handler's frame by its stack pointer, and a trampoline has the same one as its caller. So if
// the caller is the handler, they mistake the trampoline for it. Then this routine is called as the handler: it lands
// in penna_call_unwind_on, which builds its own frame and continues from there. Where the unwinder hides what that
// needs, the frames are made distinguishable (unwinder.h).
__attribute__((visibility("hidden"), used)) int penna_return_personality(int, int actions, uint64_t, void* exception,
                                                                         void* context) {
  constexpr int kCleanupPhase = 2, kHandlerFrame = 4, kInstallContext = 7, kContinueUnwind = 8;
  Unwinder unwinder;
  const bool shown = find_unwinder(reinterpret_cast<uintptr_t>(__builtin_return_address(0)), &unwinder);
  auto* hidden = static_cast<LibgccContext*>(context);
  if (!shown && is_trampoline(hidden->ip)) mark_as_trampoline(hidden);
  if ((actions & kCleanupPhase) == 0) return kContinueUnwind;
  const uintptr_t pc = shown ? unwinder.get_ip(context) : hidden->ip;
  if (!is_trampoline(pc)) {
    if (recording(PENNA_CALLS)) lose_for(PENNA_LOSS_UNWOUND, PENNA_CALLS, 1);
    return kContinueUnwind;
  }
  const ReturnLink& link = link_of_trampoline(pc);
  if (recording(PENNA_CALLS)) write_call(link.function, PENNA_TAG_EXIT);
  if (!shown || (actions & kHandlerFrame) == 0) return kContinueUnwind;
  penna_call_resume = unwinder.resume;
  unwinder.set_register(context, 0, reinterpret_cast<uintptr_t>(exception));
  unwinder.set_register(context, 1, link.caller);
  unwinder.set_ip(context, reinterpret_cast<uintptr_t>(&penna_call_unwind_on));
  return kInstallContext;
}
}

}  // namespace penna::agent

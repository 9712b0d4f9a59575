// SPDX-License-Identifier: MIT
// See traced_events.h: calls and allocations.
#include "breakpoint/traced_events.h"

namespace penna {
namespace {

// Return slots further apart than the usual limit of a stack (8 MiB) are on different stacks: coroutines', or signal
// handlers'.
constexpr uint64_t kLargestStack = uint64_t{8} << 20;

uint64_t tagged(uint64_t block, penna_alloc_family family) {
  return (block & PENNA_ADDRESS_MASK) | uint64_t{family} << 56;
}

penna_alloc_family family_of(AllocatorCall call) {
  switch (call) {
    case AllocatorCall::kCalloc: return PENNA_FAMILY_CALLOC;
    case AllocatorCall::kRealloc:
    case AllocatorCall::kReallocArray: return PENNA_FAMILY_REALLOC;
    case AllocatorCall::kAligned:
    case AllocatorCall::kPosixMemalign: return PENNA_FAMILY_ALIGNED;
    default: return PENNA_FAMILY_MALLOC;
  }
}

// calloc's product may overflow: then the call fails, and no size is needed.
uint64_t size_of(const EnteredCall& call) {
  switch (call.meaning.allocator) {
    case AllocatorCall::kMalloc: return call.arguments[0];
    case AllocatorCall::kCalloc: return call.arguments[0] * call.arguments[1];
    case AllocatorCall::kReallocArray: return call.arguments[1] * call.arguments[2];
    case AllocatorCall::kPosixMemalign: return call.arguments[2];
    default: return call.arguments[1];
  }
}

// Whether the frame with its return address at `slot` is on the same stack as `other`, and further in.
bool is_inside(uint64_t slot, uint64_t other) { return slot < other && other - slot < kLargestStack; }

}  // namespace

ThreadLog& TracedEvents::log_of(TracedThread& thread) {
  const auto other = threads_.find(thread.on_behalf_of);
  return other != threads_.end() ? other->second.own_log : thread.own_log;
}

void TracedEvents::meet(TracedThread& thread, uint64_t at, const Registers& registers, uint64_t now) {
  // Returns first: one place may be both a return address and the start of something.
  leave_functions(thread, registers.left_slot(), at, registers, now);
  if (const Meaning* meaning = thread.process->meaning_at(at)) enter(thread, *meaning, registers, at, now);
}

void TracedEvents::enter(TracedThread& thread, const Meaning& meaning, const Registers& registers, uint64_t function,
                         uint64_t now) {
  TracedProcess& process = *thread.process;
  if (meaning.is_loader) {
    // Announced before any record can refer to an address in it: this very thread is mapping it.
    for (const TracedModule* module : process.look_at_modules()) {
      process.announce_module(log_of(thread), *module, now);
      set_places(process, thread.id, *module);
    }
    return;
  }
  if (meaning.point != nullptr) pass_point(thread, *meaning.point, registers, function, now);
  if (meaning.jump != JumpCall::kNone) jump(thread, meaning.jump, registers, now);
  const bool is_function =
      meaning.is_call || meaning.allocator != AllocatorCall::kNone || meaning.lock != LockCall::kNone;
  if (!is_function) return;
  EnteredCall call;
  call.slot = registers.return_slot();
  call.returns_to = process.memory().get_or_zero(RemotePtr<uint64_t>(call.slot));
  call.function = function;
  call.meaning = meaning;
  call.begin = now;
  for (int i = 0; i < 3; ++i) call.arguments[i] = registers.argument(i);
  // Calls that are still open further in have ended without our seeing it.
  leave_dead(thread, call.slot, function, now);
  if (meaning.is_call) {
    process.writer()->write_call(log_of(thread), PENNA_TAG_ENTRY, function, now);
    // The two below await their returns themselves: one entry in `open` per call, whatever it means.
    if (meaning.allocator == AllocatorCall::kNone && meaning.lock == LockCall::kNone && !await_return(thread, call))
      ++unreturned_;
  }
  if (meaning.allocator != AllocatorCall::kNone) enter_allocator(thread, call, registers, now);
  if (meaning.lock != LockCall::kNone) enter_lock(thread, call, registers, now);
}

bool TracedEvents::await_return(TracedThread& thread, const EnteredCall& call) {
  if (!can_await(thread, call)) return false;
  thread.open.push_back(call);
  return true;
}

// Functions that the thread has left without a return: by an exception or longjmp. It is about to call one with its
// return address at `slot`, or has returned there.
void TracedEvents::leave_dead(TracedThread& thread, uint64_t slot, uint64_t function, uint64_t now) {
  while (!thread.open.empty()) {
    const EnteredCall& last = thread.open.back();
    // The same function with the same slot: it jumped to itself, or was left and is called again.
    if (!is_inside(last.slot, slot) && !(last.slot == slot && last.function == function)) return;
    if (last.meaning.is_call) thread.process->writer()->write_call(log_of(thread), PENNA_TAG_EXIT, last.function, now);
    thread.open.pop_back();
  }
}

void TracedEvents::jump(TracedThread& thread, JumpCall what, const Registers& registers, uint64_t now) {
  // The stack pointer after the call: for setjmp, where longjmp comes back to; for __cxa_begin_catch, in the frame that
  // catches.
  const uint64_t callers_sp = registers.return_slot() + 8, buffer = registers.argument(0);
  if (what == JumpCall::kSave) return thread.process->save_jump(buffer, callers_sp);
  const uint64_t sp = what == JumpCall::kGo ? thread.process->jump_target(buffer) : callers_sp;
  if (sp != 0) leave_dead(thread, sp, 0, now);
}

// All calls that return here at once: a function, and those that it tail-called.
void TracedEvents::leave_functions(TracedThread& thread, uint64_t slot, uint64_t at, const Registers& registers,
                                   uint64_t now) {
  // A breakpoint at a return address is also hit by threads that got there in another way.
  bool any = false;
  for (const EnteredCall& call : thread.open) any |= call.slot == slot && call.returns_to == at;
  if (!any) return;
  leave_dead(thread, slot, 0, now);
  while (!thread.open.empty() && thread.open.back().slot == slot && thread.open.back().returns_to == at) {
    const EnteredCall call = thread.open.back();
    thread.open.pop_back();
    returned(thread, call, registers, now);
  }
}

void TracedEvents::returned(TracedThread& thread, const EnteredCall& call, const Registers& registers, uint64_t now) {
  if (call.meaning.allocator != AllocatorCall::kNone) allocated(thread, call, registers.result(), now);
  if (call.meaning.lock != LockCall::kNone) lock_returned(thread, call, registers.result(), now);
  if (call.meaning.is_call) thread.process->writer()->write_call(log_of(thread), PENNA_TAG_EXIT, call.function, now);
}

// ---- Allocations ----------------------------------------------------------------------------------------------------

// An allocator function called by another is part of that one.
void TracedEvents::enter_allocator(TracedThread& thread, EnteredCall call, const Registers& registers, uint64_t now) {
  TracedProcess& process = *thread.process;
  ChannelWriter& writer = *process.writer();
  // calloc calls malloc in many libcs.
  for (const EnteredCall& other : thread.open)
    if (other.meaning.allocator != AllocatorCall::kNone) call.meaning.allocator = AllocatorCall::kNone;
  if (call.meaning.allocator == AllocatorCall::kNone) {
    if (call.meaning.is_call && !await_return(thread, call)) ++unreturned_;
    return;
  }
  const bool frees =
      call.meaning.allocator == AllocatorCall::kFree || family_of(call.meaning.allocator) == PENNA_FAMILY_REALLOC;
  const bool gives = call.meaning.allocator != AllocatorCall::kFree;
  // A stack walk costs more than everything else here.
  const bool with_stack = gives || (writer.config().options & PENNA_OPTION_FREE_STACKS) != 0;
  if (with_stack) call.stack = process.stack(registers.caller(call.returns_to));
  // A free is stamped before the block is released, an allocation after it is made: so another thread that gets the
  // same address is always later.
  if (frees && call.arguments[0] != 0) {
    const uint64_t block = tagged(call.arguments[0], family_of(call.meaning.allocator));
    if ((writer.config().options & PENNA_OPTION_FREE_STACKS) != 0)
      writer.write(log_of(thread), PENNA_KIND_FREE_STACK, penna_free_stack{block, call.stack, 0}, PENNA_ALLOC, now);
    else
      writer.write(log_of(thread), PENNA_KIND_FREE, penna_free{block}, PENNA_ALLOC, now);
  }
  if ((gives || call.meaning.is_call) && !await_return(thread, call)) ++unreturned_;
}

void TracedEvents::allocated(TracedThread& thread, const EnteredCall& call, uint64_t result, uint64_t now) {
  ChannelWriter& writer = *thread.process->writer();
  ThreadLog& log = log_of(thread);
  const AllocatorCall what = call.meaning.allocator;
  if (what == AllocatorCall::kFree) return;
  const penna_alloc_family family = family_of(what);
  const uint64_t size = size_of(call);
  uint64_t block = result;
  if (what == AllocatorCall::kPosixMemalign)
    // It returns an int: the upper half of rax is undefined.
    block = static_cast<uint32_t>(result) == 0
                ? thread.process->memory().get_or_zero(RemotePtr<uint64_t>(call.arguments[0]))
                : 0;
  if (block == 0) {
    // The free recorded at the entry did not happen. With size 0 it did: realloc(p, 0) frees.
    if (family == PENNA_FAMILY_REALLOC && call.arguments[0] != 0 && size != 0)
      writer.write(log, PENNA_KIND_REALLOC_FAILED, penna_free{tagged(call.arguments[0], family)}, PENNA_ALLOC, now);
    return;
  }
  if (size <= UINT32_MAX)
    writer.write(log, PENNA_KIND_ALLOC, penna_alloc{tagged(block, family), call.stack, static_cast<uint32_t>(size)},
                 PENNA_ALLOC, now);
  else
    writer.write(log, PENNA_KIND_ALLOC_LARGE, penna_alloc_large{tagged(block, family), call.stack, 0, size},
                 PENNA_ALLOC, now);
}

}  // namespace penna

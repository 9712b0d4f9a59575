// SPDX-License-Identifier: MIT
// See lock_calls.h. What calls of patched lock functions record: penna_enter_lock (entered_locks_x86_64.S) calls this
// before and after the function.
//
// How a wait is recognised: if the lock has a known try function, that is called first, as in all lock hooks
// (lock_record.h). If not, only the time shows it: longer than process.timed_wait in the function is a wait, known once
// it is over.
// Invariant: results and errno are those of the function; a lock is held exactly when it would be without the agent.
#include <errno.h>

#include "agent/hooks/locks/lock_calls.h"
#include "agent/hooks/locks/lock_record.h"
#include "agent/patch/call_patches.h"

namespace penna::agent {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

struct EnteredLock {
  // Start of its module; 0: unused. If the module was unmapped, the rest stays: a thread that has just been in the
  // function still records the end of the call.
  uintptr_t module;
  uintptr_t code;  // does what the function did
  uint32_t tried_by;
  uint8_t role, answer, sync, subject;
  // Whether the result for a free lock is known: nothing, or 0; for the program's own locks, known after a call.
  bool knows_result;
  uint64_t result, result2;
};
EnteredLock lock_functions[PENNA_MOST_LOCK_FUNCTIONS];
bool any_lock_functions;

// The longest run of unused numbers.
LockNumbers free_numbers() {
  LockNumbers best{}, now{};
  for (uint16_t i = 0; i < PENNA_MOST_LOCK_FUNCTIONS; ++i) {
    const bool is_free = __atomic_load_n(&lock_functions[i].module, __ATOMIC_RELAXED) == 0;
    now = is_free ? LockNumbers{now.first, static_cast<uint16_t>(now.count + 1)}
                  : LockNumbers{static_cast<uint16_t>(i + 1), 0};
    if (now.count > best.count) best = now;
  }
  return best;
}

void remember(const penna_patch& patch, uintptr_t module_start) {
  // Called under PatchLock, before the head that leads here is written.
  lock_functions[patch.name] = {module_start,
                                patch.stub,
                                patch.version,
                                patch.role,
                                patch.answer,
                                patch.sync,
                                patch.subject,
                                patch.sync != PENNA_SYNC_OWN,
                                0,
                                0};
  any_lock_functions = true;
  __atomic_fetch_or(&process.armed, kLockOptions, __ATOMIC_RELAXED);
}

// LockCall::state
enum CallState : uint32_t { kSimple, kTrying, kWaiting, kTimed, kGiving, kGivingWaited, kOnCondition, kLeft };

// x86-64 psABI, 3.2.3: of a bool, only the low 8 bits of the register are defined; of an int, the low 32.
bool is_yes(uint8_t answer, uint64_t result) {
  switch (answer) {
    case PENNA_ANSWER_TRUE: return static_cast<uint8_t>(result) != 0;
    case PENNA_ANSWER_FALSE: return static_cast<uint8_t>(result) == 0;
    case PENNA_ANSWER_ZERO: return static_cast<uint32_t>(result) == 0;
    default: return true;
  }
}

// How a wait for a lock ended.
penna_wait_end end_of_wait(const EnteredLock& function, uint64_t result) {
  return function.answer == PENNA_ANSWER_ZERO ? PosixAnswers::end(static_cast<int>(result)) : PENNA_WAIT_GOT;
}

// A reader-writer lock is identified by how this thread has taken it.
uint64_t word_of_held(uint64_t address, uint8_t sync) {
  const uint64_t as_reader = lock_word(address, PENNA_SYNC_READ);
  return sync == PENNA_SYNC_WRITE && held_since(as_reader) != UINT64_MAX ? as_reader : lock_word(address, sync);
}

// What penna_enter_lock does next.
struct Next {
  uintptr_t code;
  enum How : uint64_t { kCall, kJump, kDone } how;
};

Next begin_call(LockCall* call, CallState state, uintptr_t code) {
  // The outer call. One on another stack is waiting there, and will continue at some time; one deeper on this stack was
  // left unnoticed.
  LockCall* outer = thread.lock_call;
  // Unsigned: a call below the outer one, where a nested call belongs, counts as far away.
  const uintptr_t deeper = reinterpret_cast<uintptr_t>(call) - reinterpret_cast<uintptr_t>(outer);
  call->outer = deeper < kMostInside ? nullptr : outer;
  call->self = call;
  call->state = state;
  thread.lock_call = call;
  return {code, Next::kCall};
}

void end_call(LockCall* call) {
  if (thread.lock_call == call) thread.lock_call = call->outer;
  call->self = nullptr;
}

Next try_first(LockCall* call, const EnteredLock& function, const unwind::HookFrame* hook) {
  const EnteredLock& tries = lock_functions[function.tried_by];
  const int saved = errno;
  // The try is a separate call: what it does inside is not recorded either.
  begin_call(call, kTrying, 0);
  const uint64_t answer = reinterpret_cast<uint64_t (*)(uint64_t)>(tries.code)(call->arguments[0]);
  end_call(call);
  errno = saved;
  if (is_yes(tries.answer, answer)) {
    record_acquired_at(call->lock, call->stack);
    call->result = function.result;
    call->result2 = function.result2;
    return {0, Next::kDone};
  }
  watch_contended(call->lock);
  const LockWait wait = LockWait::begin_now(call->lock, call->stack, 0, hook);
  call->begin = wait.begin;
  call->stack = wait.stack;
  return begin_call(call, kWaiting, function.code);
}

Next take_entered(LockCall* call, const EnteredLock& function, const unwind::HookFrame* hook) {
  call->lock = lock_word(call->arguments[0], function.sync);
  call->stack = wants_stack(call->lock) ? current_stack(hook->caller()) : 0;
  // Acquire: pairs with the release in record_acquired().
  if (function.tried_by != kNobody && __atomic_load_n(&function.knows_result, __ATOMIC_ACQUIRE))
    return try_first(call, function, hook);
  call->begin = penna_now();
  return begin_call(call, kTimed, function.code);
}

Next try_entered(LockCall* call, const EnteredLock& function, const unwind::HookFrame* hook) {
  call->lock = lock_word(call->arguments[0], function.sync);
  call->stack = wants_stack(call->lock) ? current_stack(hook->caller()) : 0;
  return begin_call(call, kSimple, function.code);
}

bool takes_when(const EnteredLock& function) {
  return function.role == PENNA_LOCK_TAKES_WHEN || function.role == PENNA_LOCK_TAKES_WHEN_AS;
}

uint8_t sync_of(const EnteredLock& function, const LockCall* call) {
  if (function.role != PENNA_LOCK_TAKES_WHEN_AS) return function.sync;
  return static_cast<uint8_t>(call->arguments[3]) != 0 ? PENNA_SYNC_WRITE : PENNA_SYNC_READ;
}

// Releases the lock, if it was held, and waits for a condition together with it, as far as that is known.
Next wait_entered(LockCall* call, const EnteredLock& function, const unwind::HookFrame* hook) {
  const uint64_t lock = call->arguments[function.role == PENNA_LOCK_WAITS_ON ? 1 : 0];
  call->lock = word_of_held(lock, sync_of(function, call));
  call->condition = lock_word(call->arguments[0], PENNA_SYNC_CONDITION);
  call->stack = current_stack(hook->caller());
  if (!takes_when(function)) record_released(call->lock, penna_now(), hook);
  call->begin = ConditionWait::begin_now(call->lock, call->condition, call->stack).begin;
  return begin_call(call, kOnCondition, function.code);
}

// Whether any thread is waiting is unknown: one that is will wait next for what this thread holds.
void wake_entered(const LockCall* call, uint32_t most, const unwind::HookFrame* hook) {
  watch_woken();
  record_wake(lock_word(call->arguments[0], PENNA_SYNC_CONDITION), most, current_stack(hook->caller()));
}

// ---- After the call -------------------------------------------------------------------------------------------------

void record_wait(const LockCall* call, penna_wait_end end, uint64_t now) {
  LockWait{call->lock, call->begin, call->stack, 0}.end_for_lock(end, now);
}

// It was not known before that it would wait: from now on, threads that take the lock record their stacks.
void record_timed_wait(LockCall* call, penna_wait_end end, uint64_t now, const unwind::HookFrame* hook) {
  if (now - call->begin < process.timed_wait || now - call->begin < process.min_wait) {
    if (end == PENNA_WAIT_GOT) record_acquired_at(call->lock, call->stack);
    return;
  }
  if (call->stack == 0) call->stack = current_stack(hook->caller());
  end_recorded(call->lock);
  record_wait(call, end, now);
}

void record_acquired(LockCall* call, EnteredLock& function, const unwind::HookFrame* hook) {
  const uint64_t now = penna_now();
  const penna_wait_end end = end_of_wait(function, call->result);
  if (call->state == kWaiting) {
    watch_wait_over(call->lock);
    return record_wait(call, end, now);
  }
  record_timed_wait(call, end, now, hook);
  // Two threads may learn it at once: what each stores means success, and so does a mixture.
  if (end != PENNA_WAIT_GOT || __atomic_load_n(&function.knows_result, __ATOMIC_RELAXED)) return;
  function.result = call->result;
  function.result2 = call->result2;
  __atomic_store_n(&function.knows_result, true, __ATOMIC_RELEASE);
}

void record_try(const LockCall* call, const EnteredLock& function) {
  if (is_yes(function.answer, call->result))
    record_acquired_at(call->lock, call->stack, kTried);
  else
    write_lock(PENNA_KIND_LOCK_BUSY, call->lock, penna_now());
}

void record_condition_end(const LockCall* call, penna_wait_end end) {
  ConditionWait{call->lock, call->condition, call->begin, call->stack}.end(end);
}

// When the lock is free, the function still has to wake others: whether any wait was determined before.
void record_entered_release(const LockCall* call, const unwind::HookFrame* hook) {
  if (call->state == kGivingWaited) request_end_record(call->lock);
  record_released(call->lock, call->begin, hook);
}

// The call will not return: records what has begun, as far as it is known.
void leave_call(LockCall* call, const unwind::HookFrame* hook) {
  switch (call->state) {
    case kWaiting:
      watch_wait_over(call->lock);
      record_wait(call, PENNA_WAIT_ERROR, penna_now());
      break;
    case kGiving:
    case kGivingWaited: record_entered_release(call, hook); break;
    case kOnCondition: record_condition_end(call, PENNA_WAIT_ERROR); break;
    // Nothing was recorded that would need an end.
    default: break;
  }
  call->state = kLeft;
}

// Whether this thread, deeper on the same stack, is about to leave the call.
bool is_being_left(const LockCall* call) {
  // The usual limit (ulimit -s). A stale call that is further away, or on another stack, is not read.
  constexpr uintptr_t kMostStack = 8 << 20;
  const uintptr_t distance =
      reinterpret_cast<uintptr_t>(call) - reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return call != nullptr && distance < kMostStack && call->self == call;
}

// The frame of penna_enter_lock; entered_locks_x86_64.S fixes the distance from the LockCall to its rbp.
const unwind::HookFrame* frame_of(const LockCall* call) {
  constexpr uintptr_t kFromFrame = 120;
  return reinterpret_cast<const unwind::HookFrame*>(reinterpret_cast<uintptr_t>(call) + kFromFrame);
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), used)) Next penna_before_lock(LockCall* call,
                                                                              const unwind::HookFrame* hook) {
  const EnteredLock& function = lock_functions[call->number];
  const Next unseen{function.code, Next::kJump};
  if (!recording(PENNA_LOCKS) || inside_lock_function()) return unseen;
  if (function.subject == PENNA_SUBJECT_MODULE) call->arguments[0] = function.module;
  if (function.subject == PENNA_SUBJECT_THIRD) call->arguments[0] = call->arguments[2];
  switch (function.role) {
    case PENNA_LOCK_TAKES: return take_entered(call, function, hook);
    case PENNA_LOCK_TRIES: return try_entered(call, function, hook);
    case PENNA_LOCK_GIVES:
      call->lock = word_of_held(call->arguments[0], function.sync);
      call->begin = penna_now();
      return begin_call(call, wants_end(call->lock) ? kGivingWaited : kGiving, function.code);
    case PENNA_LOCK_TAKES_WHEN:
    case PENNA_LOCK_TAKES_WHEN_AS:
    case PENNA_LOCK_AWAITS:
    case PENNA_LOCK_WAITS_ON: return wait_entered(call, function, hook);
    case PENNA_LOCK_WAKES_ONE: return wake_entered(call, 1, hook), begin_call(call, kSimple, function.code);
    case PENNA_LOCK_WAKES_ALL: return wake_entered(call, UINT32_MAX, hook), begin_call(call, kSimple, function.code);
    case PENNA_LOCK_MAKES: return begin_call(call, kSimple, function.code);
    case PENNA_LOCK_ENDS:
      write_lock(PENNA_KIND_LOCK_GONE, lock_word(call->arguments[0], function.sync), penna_now());
      return unseen;
    default: return unseen;
  }
}

// The function has returned.
extern "C" __attribute__((visibility("hidden"), used)) void penna_after_lock(LockCall* call,
                                                                             const unwind::HookFrame* hook) {
  EnteredLock& function = lock_functions[call->number];
  end_call(call);
  switch (function.role) {
    case PENNA_LOCK_TAKES:
      if (call->state == kLeft)
        record_acquired_at(call->lock, 0);  // reacquired after another jump back
      else
        record_acquired(call, function, hook);
      break;
    case PENNA_LOCK_TRIES: record_try(call, function); break;
    case PENNA_LOCK_GIVES:
      if (call->state != kLeft && is_yes(function.answer, call->result)) record_entered_release(call, hook);
      break;
    case PENNA_LOCK_MAKES:
      if (is_yes(function.answer, call->result)) record_created(lock_word(call->arguments[0], function.sync), hook);
      break;
    case PENNA_LOCK_WAKES_ONE:
    case PENNA_LOCK_WAKES_ALL: break;  // recorded before the call
    default:
      if (call->state != kLeft)
        record_condition_end(call, is_yes(function.answer, call->result) ? PENNA_WAIT_GOT : PENNA_WAIT_TIMEOUT);
      break;
  }
}

// An exception or a cancellation passes penna_enter_lock. Itanium C++ ABI, exception handling, 2.5.2.
extern "C" __attribute__((visibility("hidden"), used)) int penna_lock_personality(int, int actions, uint64_t, void*,
                                                                                  void*) {
  constexpr int kCleanupPhase = 2, kContinueUnwind = 8;
  LockCall* call = thread.lock_call;
  if ((actions & kCleanupPhase) != 0 && is_being_left(call)) {
    end_call(call);
    leave_call(call, frame_of(call));
  }
  return kContinueUnwind;
}

// The code that jumps is deeper on the stack than the calls that are left.
void leave_lock_calls() {
  for (LockCall* call = thread.lock_call; is_being_left(call); call = call->outer) leave_call(call, frame_of(call));
  thread.lock_call = nullptr;
}

bool start_lock_functions(const penna_config& config) {
  thread.lock_call = nullptr;
  return (config.classes & class_bit(PENNA_LOCKS)) != 0 && (config.plans & PENNA_PLANS_LOCKS) != 0;
}

void enter_lock_functions(const NewModules& modules, penna_unless unless) {
  enter_locks(modules, unless, {reinterpret_cast<uintptr_t>(&penna_enter_lock), free_numbers, remember});
}

bool lock_functions_entered() { return any_lock_functions; }

void forget_lock_functions(uintptr_t module_start) {
  for (EnteredLock& function : lock_functions)
    if (__atomic_load_n(&function.module, __ATOMIC_RELAXED) == module_start)
      __atomic_store_n(&function.module, 0, __ATOMIC_RELAXED);
}

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// See passed_opens.h.
#include "agent/modules/passed_opens.h"

#include "agent/core/state.h"
#include "agent/modules/linker_turns.h"
#include "unwind/arch.h"

namespace penna::agent {
namespace {

enum State : uint8_t { kFree, kChanging, kPassed };

struct PassedOpen {
  uint8_t state;  // a State; atomic
  const Thread* by;
  const uintptr_t* slot;
  uintptr_t return_address;
  Opening opening;
  ScopeChange change;
};

constexpr uint32_t kMost = 64;
PassedOpen opens[kMost];
uint32_t in_use;  // of those that are not free

bool claim(PassedOpen& open, State from) {
  uint8_t expected = from;
  return __atomic_load_n(&open.state, __ATOMIC_RELAXED) == from &&
         __atomic_compare_exchange_n(&open.state, &expected, kChanging, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void set_state(PassedOpen& open, State state) { __atomic_store_n(&open.state, state, __ATOMIC_RELEASE); }

// The stack of a thread that has ended may be unmapped.
bool is_over(const PassedOpen& open, const uintptr_t* slot) {
  if (slot != nullptr && open.by == &thread && slot >= open.slot) return true;
  const auto at = reinterpret_cast<uintptr_t>(open.slot);
  return !unwind::raw_probe(at) || __atomic_load_n(open.slot, __ATOMIC_RELAXED) != open.return_address;
}

void end(PassedOpen& open) {
  open.change.end(nullptr);
  set_state(open, kFree);
  __atomic_fetch_sub(&in_use, 1, __ATOMIC_RELAXED);
  end_linker_stay();
}

}  // namespace

// If there are more at a time than slots, the rest go unnoticed.
void begin_passed_open(const Opening& opening, const ScopeChange& change, const uintptr_t* return_slot) {
  settle_passed_opens(return_slot, nullptr);
  for (PassedOpen& open : opens) {
    if (!claim(open, kFree)) continue;
    open.by = &thread;
    open.slot = return_slot;
    open.return_address = *return_slot;
    open.opening = opening;
    open.change = change;
    __atomic_fetch_add(&in_use, 1, __ATOMIC_RELAXED);
    begin_linker_stay();
    return set_state(open, kPassed);
  }
}

bool settle_passed_opens(const uintptr_t* slot, Opening* earliest) {
  bool any = false;
  if (__atomic_load_n(&in_use, __ATOMIC_RELAXED) == 0) return false;
  for (PassedOpen& open : opens) {
    if (!claim(open, kPassed)) continue;
    if (!is_over(open, slot)) {
      set_state(open, kPassed);
      continue;
    }
    if (earliest != nullptr && (!any || open.opening.is_before(*earliest))) *earliest = open.opening;
    any = true;
    end(open);
  }
  return any;
}

void forget_passed_opens() {
  if (in_use == 0) return;
  for (PassedOpen& open : opens) {
    const bool stays = open.state == kPassed && open.by == &thread;
    if (open.state != kFree && !stays) --in_use, set_state(open, kFree);
    if (stays) begin_linker_stay();
  }
}

}  // namespace penna::agent

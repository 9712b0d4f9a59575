// SPDX-License-Identifier: MIT
// See entered_functions.h.
#include "agent/patch/entered_functions.h"

#include "agent/core/state.h"

namespace penna::agent {
namespace {

constexpr uint32_t kSlots = 1 << 14;
constexpr uintptr_t kForgotten = 1;
// Relaxed everywhere: an address is all that is handed over.
uintptr_t entered[kSlots];  // by hash, open addressing; 0: unused, kForgotten: was used
uint32_t entered_count;

uint32_t home_of(uintptr_t function) { return static_cast<uint32_t>((function * 0x9e3779b97f4a7c15) >> 50); }
static_assert(kSlots == uint64_t{1} << (64 - 50));

}  // namespace

bool is_entered_function(uintptr_t function) {
  for (uint32_t i = home_of(function);; i = (i + 1) % kSlots) {
    const uintptr_t seen = __atomic_load_n(&entered[i], __ATOMIC_RELAXED);
    if (seen == function) return true;
    if (seen == 0) return false;
  }
}

bool remember_entered_function(uintptr_t function) {
  if (is_entered_function(function)) return false;
  // A quarter stays unused, so that every search ends.
  if (entered_count >= kSlots / 4 * 3) return count(&penna_counters::functions_refused), false;
  uint32_t i = home_of(function);
  while (entered[i] > kForgotten) i = (i + 1) % kSlots;
  // A forgotten slot that is used again was counted before.
  entered_count += entered[i] == 0;
  __atomic_store_n(&entered[i], function, __ATOMIC_RELAXED);
  return true;
}

void forget_entered_functions(uintptr_t start, uintptr_t end) {
  if (entered_count == 0) return;  // leaves the table's memory alone
  for (uintptr_t& slot : entered) {
    uintptr_t seen = __atomic_load_n(&slot, __ATOMIC_RELAXED);
    if (seen > kForgotten && seen - start < end - start)
      __atomic_compare_exchange_n(&slot, &seen, kForgotten, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

}  // namespace penna::agent

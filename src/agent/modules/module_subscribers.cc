// SPDX-License-Identifier: MIT
// The table of module_subscriber.h. It depends on everything that it names, and nothing includes it.
#include "agent/calls/call_values.h"
#include "agent/core/attachment.h"
#include "agent/core/return_trampolines.h"
#include "agent/core/state.h"
#include "agent/hooks/alloc/allocators.h"
#include "agent/hooks/locks/lock_calls.h"
#include "agent/modules/deep_binding.h"
#include "agent/modules/module_subscriber.h"
#include "agent/modules/near_ranges.h"
#include "agent/patch/entered_functions.h"
#include "agent/patch/points.h"
#include "agent/patch/probes.h"
#include "agent/stacks/stacks.h"

namespace penna::agent {
namespace {

constexpr uint32_t kPointsAndPools = class_bit(PENNA_POINTS) | class_bit(PENNA_ALLOC);  // pools are allocations

// Modules announce in their constructors and destructors that they come and go, unless the agent was loaded late.
bool start_late_points(const penna_config& config, bool) {
  const bool wanted = attachment != nullptr && (config.classes & kPointsAndPools) != 0;
  if (wanted) expect_module_ends();
  return wanted;
}

constexpr ModuleSubscriber kCallValues{.on_gone = forget_captures};
constexpr ModuleSubscriber kEnteredFunctions{.on_gone = forget_entered_functions};
constexpr ModuleSubscriber kAllocators{.on_gone = [](uintptr_t start, uintptr_t) { forget_allocator(start); },
                                       .on_new = enter_allocators,
                                       .start = start_allocators,
                                       .classes = class_bit(PENNA_ALLOC)};
constexpr ModuleSubscriber kLocks{
    .on_gone = [](uintptr_t start, uintptr_t) { forget_lock_functions(start); },
    .on_new = enter_lock_functions,
    .start = [](const penna_config& config, bool) { return start_lock_functions(config); },
    .classes = class_bit(PENNA_LOCKS)};
constexpr ModuleSubscriber kProbes{.on_gone = [](uintptr_t start, uintptr_t) { forget_probes(start); },
                                   .on_new = enter_probes,
                                   .start = start_probes,
                                   .classes = class_bit(PENNA_POINTS)};
constexpr ModuleSubscriber kPoints{.on_new = enter_points, .start = start_late_points, .classes = kPointsAndPools};
constexpr ModuleSubscriber kNearMemory{.on_gone = [](uintptr_t start, uintptr_t) { forget_near_memory(start); }};
constexpr ModuleSubscriber kReturnLinks{.on_gone = mark_return_links_stale};
constexpr ModuleSubscriber kJournal{.on_gone = forget_changes};
constexpr ModuleSubscriber kStacks{.after_gone = forget_unwind_rules};

}  // namespace

// Called from first to last. Near memory is unmapped after all subscribers that have addresses in it: another thread
// may be lowering the semaphores of probes (stop_probes()).
const ModuleSubscriber module_subscribers[kModuleSubscribers] = {
    kCallValues, kEnteredFunctions, kAllocators,  kLocks,   kProbes,
    kPoints,     kNearMemory,       kReturnLinks, kJournal, kStacks};

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// The points of this process: finds the sites of every module, arms those that are wanted, and describes them to the
// recorder.
//
// Why the tables are not copied: they are in the modules, read-only, and mapped as long as these are; the agent keeps
// one entry per module.
// Invariant: a site gets its id once, and its SITE record is written before it is armed, and to each new channel again
// before this thread's first event in it.
#pragma once

#include <stdint.h>

#include "penna/channel.h"
#include "penna/patch_plan.h"
#include "penna/point_abi.h"

namespace penna::agent {

class NewModules;

// Called from start(), once the channel takes records. The first time: finds and arms all sites that the config asks
// for. In a forked child, whose sites are armed already: describes them to the new channel.
void start_points(const penna_config& config, bool forked);

// For the table of module_subscriber.h, if the agent was loaded late: the constructors of modules are not bound to the
// agent, so their sites are entered as soon as dlopen returns.
void enter_points(const NewModules& modules, penna_unless unless);

// Restores the original bytes of every slot. If another thread is loading or unloading a module it does nothing: then
// sites stay armed, and record nothing. Async-signal-safe.
void stop_points();

// Switches the points and triggers whose PROVIDER:NAME matches the glob `pattern`, now and in modules that are loaded
// later; adds to `counts`. A pattern holds until a later one overrides it. Async-signal-safe.
penna_control_status change_points(const char* pattern, bool on, penna_change_counts* counts);

// ---- The recorder's side of penna_point_entries ---------------------------------------------------------------------

// The slow path of a point, called by points_record.cc with the vector state saved: nothing was reserved yet; the
// reservation `at` did not fit; or the record at address `at` is too long after the start of its chunk. Returns the
// record, stamped and busy; null: no room, or nothing records.
uint64_t* reserve_point_first(uint32_t id, uint32_t words, uint64_t at);
uint64_t* reserve_point_in_new_chunk(uint32_t id, uint32_t words, uint64_t at);
uint64_t* reserve_point_again(uint32_t id, uint32_t words, uint64_t at);
// The whole path of a point with a stack; `registers`: the address of the registers that the walk starts with.
uint64_t* reserve_point_with_stack(uint32_t id, uint32_t words, uint64_t registers);

// ---- Stacks ---------------------------------------------------------------------------------------------------------
// If any point is recorded with its stack, all modules use another entry, which checks each point, instead of the fast
// one.

// The lower bits of penna_point_state.bytes. All zero for a point without a stack: the fast entry takes the bytes as
// they are.
inline constexpr uint8_t kWithStack = 1, kOfProbe = 2;

// kWithStack or 0. `text`: as in a penna_site_info.
uint8_t stack_bits(const char* text, uint32_t bytes);
// The entries for points of penna/point.h and for probes: like penna_point_entries.
struct PointEntries {
  uintptr_t reserve, values;
};
PointEntries point_entries();

}  // namespace penna::agent

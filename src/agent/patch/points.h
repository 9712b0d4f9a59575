// SPDX-License-Identifier: MIT
// The points of this process: finds the sites of every module, arms those that are wanted, tells the recorder about
// them.
//
// Why no copy of the tables: they lie in the modules, read-only and as long as these are mapped; we keep one entry for
// each module. Invariant: a site's id is given once and told (SITE record) before the site is armed, and to each new
// channel again before its first event of this thread.
#pragma once

#include <stdint.h>

#include "penna/channel.h"
#include "penna/point_abi.h"

namespace penna::agent {

// Called from start(), once the channel takes records. First time: finds and arms all sites that the config asks for.
// In a forked child, whose sites are armed already: tells them to the new channel.
void start_points(const penna_config& config, bool forked);

// Puts every slot's own bytes back. Does nothing while another thread is loading or unloading a module: then a site
// stays armed, and records nothing. Async-signal-safe.
void stop_points();

// Switches the points and triggers whose PROVIDER:NAME the glob `pattern` matches, here and in what is loaded later;
// adds to `counts`. Each pattern holds until a later one says otherwise. Async-signal-safe.
penna_control_status change_points(const char* pattern, bool on, penna_change_counts* counts);

// ---- The recorder's side of penna_point_entries ---------------------------------------------------------------------

// The slow half of a point, called by points_record.cc with the vector state kept: nothing was reserved yet; `at` did
// not fit; the record at address `at` is too far in time from the beginning of its chunk. Gives the record, stamped and
// busy; null: no room, or nobody records.
uint64_t* reserve_point_first(uint32_t id, uint32_t words, uint64_t at);
uint64_t* reserve_point_in_new_chunk(uint32_t id, uint32_t words, uint64_t at);
uint64_t* reserve_point_again(uint32_t id, uint32_t words, uint64_t at);
// The whole of it for a point with a stack; `registers`: the address of those that the walk begins with.
uint64_t* reserve_point_with_stack(uint32_t id, uint32_t words, uint64_t registers);

// ---- Stacks ---------------------------------------------------------------------------------------------------------
// Where any are wanted, all modules enter by another way, which looks at each point: the usual way is no longer for
// them.

// The lower bits of penna_point_state.bytes; none of them of a point without a stack, whose bytes the usual way takes
// as they are.
inline constexpr uint8_t kWithStack = 1, kOfProbe = 2;

// kWithStack or nothing. `text`: as in a penna_site_info.
uint8_t stack_bits(const char* text, uint32_t bytes);
// Where points of penna/point.h and probes shall enter: as penna_point_entries.
struct PointEntries {
  uintptr_t reserve, values;
};
PointEntries point_entries();

}  // namespace penna::agent

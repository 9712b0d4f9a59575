// SPDX-License-Identifier: MIT
// What penna record asks a target to patch for calls, from its options, and what it says of functions that could not be.
//
// Invariant: every function that -F means and that cannot be entered is named in the recording, with its reason.
#pragma once

#include <string>

#include "attach/patch_planner.h"
#include "cli/cmd_record.h"
#include "collect/collector.h"
#include "collect/server.h"

namespace penna {

// With -F, the functions that it means, and those that other filters must see to decide; else all that compilers have prepared.
PatchWishes patch_wishes(const RecordOptions& options);

// Lets `server` answer its processes' questions with `planner`: about calls, and about allocators of their own.
void plan_calls(Server& server, PatchPlanner& planner, const RecordOptions& options);

// Puts into the recording's notes which waits for locks are told by time, and which options mean no function. One sentence about these;
// empty: there are none.
std::string note_locks(const PatchPlanner& planner, Collector& collector);

// Puts the refused functions into the recording's notes, before it is closed. Gives one sentence about them; empty: there are none.
std::string note_refused(const PatchPlanner& planner, Collector& collector);

// Of `unmet`, options of a filter that no recorded function met, those that mean no refused function either: of these nobody knows whether
// they were called, and they are named as refused.
std::vector<std::string> without_refused(std::vector<std::string> unmet, const std::vector<std::string>& patterns,
                                         const PatchPlanner& planner);

}  // namespace penna

// SPDX-License-Identifier: MIT
// How the exit of a function is recorded: the function returns to a trampoline, which records the exit and continues in
// the caller.
//
// A trampoline stands for one pair of caller (a return address) and function, permanently. Its number identifies all
// that is needed at the end of a call, so there is no shadow stack. That is why longjmp, switched contexts, stacks that
// move between threads and fork cannot corrupt anything, and why unwinders need no help: the unwind information of a
// trampoline says that it is its caller (calls_x86_64.S), and its personality routine records the exits of functions
// that an exception or thread cancellation unwinds.
//
// The processor's return stack stays balanced, too: the trampoline *calls* the function, so its return is predicted.
//
// Invariant: a link never changes, except for its function when other code was mapped at that address (kStale).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "penna/detail/attach.h"

namespace penna::agent {

// A pair, and the trampoline of the same number. The table uses open addressing; each link is written once.
//
//   0        8        16         24       32
//   +--------+--------+----------+--------+
//   | caller | resume | function |  way   |     way: address of the trampoline, and the flags below
//   +--------+--------+----------+--------+
struct ReturnLink {
  uintptr_t caller;    // return address; 0 = unused, kTaken = being filled; release: stored last
  uintptr_t resume;    // in the function, after its call of the hook
  uintptr_t function;  // its entry: the address in records
  uintptr_t way;
};
static_assert(sizeof(ReturnLink) == PENNA_LINK_BYTES && offsetof(ReturnLink, caller) == 0 &&
              offsetof(ReturnLink, way) == 24);

inline constexpr uint32_t kTrampolines = 1 << 17;
inline constexpr uint32_t kMaxProbes = 64;
inline constexpr uint32_t kTrampolineBytes = PENNA_TRAMPOLINE_BYTES;
inline constexpr uintptr_t kReturnsAt =
    PENNA_TRAMPOLINE_RETURNS;  // the offset in a trampoline of the return address that it stands for
inline constexpr uintptr_t kTaken = 1;
// Flags of a way. kAsks: unusual frame, or values are wanted; always call C++. kJumps: no trampoline was called, so
// none is returned from. kStale: the code was unmapped since; ask once. kFollows: the caller is itself a trampoline,
// see add_follower().
inline constexpr uintptr_t kAsks = 1, kJumps = 2, kStale = 4, kFollows = 8;
inline constexpr uintptr_t kWayFlags = 15;

extern "C" {
extern const uint8_t penna_return_trampolines[(kTrampolines + kMaxProbes) * kTrampolineBytes];
extern ReturnLink penna_return_links[kTrampolines + kMaxProbes];
}

// Whether `pc` is in a trampoline; return addresses count.
inline bool is_trampoline(uintptr_t pc) {
  return pc - reinterpret_cast<uintptr_t>(penna_return_trampolines) < sizeof penna_return_trampolines;
}
inline ReturnLink& link_of_trampoline(uintptr_t pc) {
  return penna_return_links[(pc - reinterpret_cast<uintptr_t>(penna_return_trampolines)) / kTrampolineBytes];
}
// The return address that the compiler's code stored, whatever is there now.
inline uintptr_t real_caller(uintptr_t pc) { return is_trampoline(pc) ? link_of_trampoline(pc).caller : pc; }

// A function that was instrumented in two ways, or is entered through a stub and has its own hook, too, reports each
// call twice: the second time, its return address already is a trampoline of that function.
inline bool is_entered_already(uintptr_t function, uintptr_t caller) {
  return is_trampoline(caller) && link_of_trampoline(caller).function == function;
}

// What is known about a function when its link is made: its entry, and flags for the way.
struct LinkedFunction {
  uintptr_t function, flags;
};

// The link of a pair, created if needed. Null: no trampoline is left. A new or stale one gets what
// `function_of(resume)` returns, and `flags`. Async-signal-safe; never waits.
const ReturnLink* return_link(uintptr_t caller, uintptr_t resume, uintptr_t flags,
                              LinkedFunction (*function_of)(uintptr_t));

// A function was entered by a tail call: its return address is `jumper`, the trampoline of the function that jumped.
// Adds a link for this pair, without its own trampoline: it shares the way of `link`, the link for the real caller,
// unless that has kAsks.
void add_follower(uintptr_t jumper, const ReturnLink& link);

// Calls of this pair are not to be recorded: its link gets kFollows and no trampoline.
void pass_pair(uintptr_t caller, uintptr_t resume);

// Whether any links exist: from this process, inherited by fork, or from an earlier recording of it.
bool any_return_links();
// For a recorder that has attached to this process: where all this is.
void describe_returns(penna_attachment* shared);

// Code in [start, end) was unmapped, or more is known about it now.
void mark_return_links_stale(uintptr_t start, uintptr_t end);

}  // namespace penna::agent

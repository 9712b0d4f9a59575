// SPDX-License-Identifier: MIT
// How a function's end is seen: it returns to a trampoline, which records that and goes on to the caller.
//
// A trampoline stands for one pair of caller (a return address) and function, for good: all that is needed at the end
// of a call is known by its number, so nothing is remembered about calls that are open. That is why longjmp, contexts
// that are switched, threads that continue each other's stacks and processes that fork have nothing to put into
// disorder, and why unwinders need no help: the unwind information of a trampoline says that it is its caller
// (calls_x86_64.S), and its personality routine tells the exits of functions that an exception or the end of a thread
// goes through.
//
// The processor's own memory of returns stays in order, too: the trampoline *calls* the function, whose return then is
// foreseen.
//
// Invariant: a link stays what it is, but for its function when other code was mapped where it lay (kStale).
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penna::agent {

// A pair, and the trampoline of the same number. In a table of open addresses, written once.
//
//   0        8        16         24       32
//   +--------+--------+----------+--------+
//   | caller | resume | function |  way   |     way: address of the trampoline, and the flags below
//   +--------+--------+----------+--------+
struct ReturnLink {
  uintptr_t caller;    // return address; 0 = unused, kTaken = being filled; release: stored last
  uintptr_t resume;    // behind the call of the hook, in the function
  uintptr_t function;  // its first instruction: what records say
  uintptr_t way;
};
static_assert(sizeof(ReturnLink) == 32 && offsetof(ReturnLink, way) == 24);

inline constexpr uint32_t kTrampolines = 1 << 17;
inline constexpr uint32_t kMaxProbes = 64;
inline constexpr uint32_t kTrampolineBytes = 16;
inline constexpr uintptr_t kReturnsAt = 4;  // in a trampoline: the return address that it stands for
inline constexpr uintptr_t kTaken = 1;
// Flags of a way: the frame has another shape or values are wanted, always ask C++; no trampoline was called, so none
// is returned from; the code was unmapped since, ask once; the caller is a trampoline itself, see add_follower().
inline constexpr uintptr_t kAsks = 1, kJumps = 2, kStale = 4, kFollows = 8;
inline constexpr uintptr_t kWayFlags = 15;

extern "C" {
extern const uint8_t penna_return_trampolines[(kTrampolines + kMaxProbes) * kTrampolineBytes];
extern ReturnLink penna_return_links[kTrampolines + kMaxProbes];
}

// Is this a return address in a trampoline, or an address in one?
inline bool is_trampoline(uintptr_t pc) {
  return pc - reinterpret_cast<uintptr_t>(penna_return_trampolines) < sizeof penna_return_trampolines;
}
inline ReturnLink& link_of_trampoline(uintptr_t pc) {
  return penna_return_links[(pc - reinterpret_cast<uintptr_t>(penna_return_trampolines)) / kTrampolineBytes];
}
// The return address that the compiler wrote, whatever stands there now.
inline uintptr_t real_caller(uintptr_t pc) { return is_trampoline(pc) ? link_of_trampoline(pc).caller : pc; }

// A function that was prepared in two ways, or is entered by a stub and has a hook of its own, tells of each call
// twice: by then, what it returns to is a trampoline of its own.
inline bool is_entered_already(uintptr_t function, uintptr_t caller) {
  return is_trampoline(caller) && link_of_trampoline(caller).function == function;
}

// What is known of a function when its link is made: its first instruction, and flags for the way.
struct LinkedFunction {
  uintptr_t function, flags;
};

// The link of a pair, a new one if need be. Null: no trampoline is left. A new or stale one gets what
// `function_of(resume)` gives, and `flags`. Async-signal-safe; never waits.
const ReturnLink* return_link(uintptr_t caller, uintptr_t resume, uintptr_t flags,
                              LinkedFunction (*function_of)(uintptr_t));

// A function was entered by a jump: where it should return to lies `jumper`, the trampoline of the function that
// jumped. From now on this pair is known, too, by a link of no trampoline of its own: it has the way of `link`, which
// is for the real caller. Unless that one asks.
void add_follower(uintptr_t jumper, const ReturnLink& link);

// Calls of this pair are not to be recorded: the way out of its link is none (kFollows, and no trampoline).
void pass_pair(uintptr_t caller, uintptr_t resume);

// Is there a pair, of this process or of one that it was forked from?
bool any_return_links();

// Code in [start, end) has been unmapped, or more is known of it.
void mark_return_links_stale(uintptr_t start, uintptr_t end);

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// Near memory: address space within reach of a module's code, for stubs (penna/patch_plan.h), and who stands in which.
//
// Invariant: a range is looked up without a lock, at any time; it is added and given back under the board's lock, or by
// whoever unloads its module. Never two ranges in one place.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penna::agent {

inline constexpr size_t kNearStubBytes = 512;  // room for the stub of one function, and the way to the hook

// Address space that is mapped and may become code; empty: there is none.
struct NearRoom {
  uintptr_t start = 0;
  uint64_t bytes = 0;
};

// For all stubs of a module, within 2 GiB of all of [start, end).
NearRoom reserve_near(uintptr_t start, uintptr_t end, uint64_t bytes, int protection = 0 /* PROT_NONE */);

// For the stub of a function whose jump is to be written to `place`, in the module [start, end). While other threads
// run (`alone` is false) they may be within the first instructions. So a jump of five bytes is written whose last four
// are what stands there already ("instruction punning", Chamith et al., PLDI 2017): only the first byte changes, and
// whoever is behind it meets what was there. Where it leads to is given by these bytes; there the room is, or is none.
NearRoom reserve_near_function(uintptr_t start, uintptr_t end, uintptr_t place, bool alone);
// What of it was used; of none, it is given back. `bytes` are there for whoever executes them.
void keep_near_function(uintptr_t module_start, NearRoom room, uint64_t bytes);

// The first `bytes` of a room become memory that can be written to, as long as nothing of it is used; then code. Never
// both at once.
bool open_near(NearRoom room, uint64_t bytes);
bool close_near(NearRoom room, uint64_t bytes);

// `bytes` of the room are a module's stubs now; the rest is given back. False: the table is full.
bool keep_near(uintptr_t module_start, NearRoom room, uint64_t bytes);
// The module that began here is unmapped: so are its stubs, and what is known of calls through them is stale. Under the
// lock of the table of modules, so that none that begins at the same place is patched meanwhile.
void forget_near_memory(uintptr_t module_start);

// The function whose stub's hook call ends at `resume`; 0: there is no such stub. Async-signal-safe.
uintptr_t function_of_stub(uintptr_t resume);
bool is_near_memory(uintptr_t address);
// The same as function_of_stub(), of stubs by keep_near_function() only.
uintptr_t function_of_pointer_stub(uintptr_t resume);

}  // namespace penna::agent

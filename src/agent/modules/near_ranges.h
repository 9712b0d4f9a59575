// SPDX-License-Identifier: MIT
// Near memory: address space within reach of a module's code, for stubs (penna/patch_plan.h), and which stubs are
// where.
//
// Invariant: a range is looked up without a lock, at any time; it is added and removed under the board's lock, or by
// the thread that unloads its module. Ranges never overlap.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace penna::agent {

inline constexpr size_t kNearStubBytes = 512;  // the stub of one function, and the jump to the hook

// Address space that is mapped and may become code; empty: there is none.
struct NearRoom {
  uintptr_t start = 0;
  uint64_t bytes = 0;
};

// For all stubs of a module, within 2 GiB of all of [start, end).
NearRoom reserve_near(uintptr_t start, uintptr_t end, uint64_t bytes, int protection = 0 /* PROT_NONE */);

// For the stub of a function whose jump will be written to `place`, in the module [start, end). While other threads run
// (`alone` is false) they may be within the first instructions. So a five-byte jump is written whose last four bytes
// are what is already there ("instruction punning", Chamith et al., PLDI 2017): only the first byte changes, and a
// thread past it executes what was there before. These four bytes determine the jump's target: either that address is
// free, or there is no room.
NearRoom reserve_near_function(uintptr_t start, uintptr_t end, uintptr_t place, bool alone);
// Keeps the part of it that was used; if none was, all is unmapped. `bytes` of it are executable from now on.
void keep_near_function(uintptr_t module_start, NearRoom room, uint64_t bytes);

// Makes the first `bytes` of an unused room writable, and then executable. Never both at once.
bool open_near(NearRoom room, uint64_t bytes);
bool close_near(NearRoom room, uint64_t bytes);

// `bytes` of the room are a module's stubs now; the rest is unmapped. False: the table is full.
bool keep_near(uintptr_t module_start, NearRoom room, uint64_t bytes);
// The module that started here is unmapped: so are its stubs, and the links of calls through them are stale. Called
// under the lock of the table of modules, so that no new module at the same address is patched meanwhile.
void forget_near_memory(uintptr_t module_start);

// The function whose stub calls the hook with the return address `resume`; 0: there is no such stub.
// Async-signal-safe.
uintptr_t function_of_stub(uintptr_t resume);
bool is_near_memory(uintptr_t address);
// Like function_of_stub(), but only for stubs of keep_near_function().
uintptr_t function_of_pointer_stub(uintptr_t resume);

}  // namespace penna::agent

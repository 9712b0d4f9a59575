// SPDX-License-Identifier: MIT
// Calls of a function are not to be recorded any more: it is called too often (record --max-overhead).
//
// How: the call of the hook at its beginning becomes an instruction of the same bytes but the first, which compares and
// has no effect. So a store of one byte is all, whatever threads run there and however it lies; open calls end as they
// would have.
// Invariant: only a call that is known to have led to the hook is changed.
#pragma once

#include <stdint.h>

#include "penna/channel.h"
#include "penna/point_abi.h"

namespace penna::agent {

// Of functions by their first instruction, as records have it. Counts functions that have such a call, calls changed,
// calls that could not be. Async-signal-safe; PENNA_CONTROL_BUSY: another thread is patching, come again.
penna_control_status silence_functions(const uint64_t* functions, uint32_t count, penna_change_counts* counts);

}  // namespace penna::agent

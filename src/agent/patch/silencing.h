// SPDX-License-Identifier: MIT
// Stops recording a function that is called too often (record --max-overhead).
//
// How: the first byte of its call of the hook is overwritten, which turns the call into a compare without effect. So a
// single one-byte store is enough, whatever threads run there and however the call is aligned; open calls end as usual.
// Invariant: only a call that is known to lead to the hook is changed.
#pragma once

#include <stdint.h>

#include "penna/channel.h"
#include "penna/point_abi.h"

namespace penna::agent {

// `functions`: their entries, as in records; PENNA_CONTROL_FUNCTIONS at most. Counts functions that have such a call,
// calls that were changed, and calls that could not be; `silent`: by bit, the functions that have one and none that
// could not be. Async-signal-safe; PENNA_CONTROL_BUSY: another thread is patching, try again.
penna_control_status silence_functions(const uint64_t* functions, uint32_t count, penna_change_counts* counts,
                                       uint64_t* silent);

}  // namespace penna::agent

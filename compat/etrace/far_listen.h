// SPDX-License-Identifier: MIT
// etrace --listen: waits for the etrace of another machine, shows what it sends, ends with it.
//
// Invariant: it speaks with one, the first that is an etrace; who is none is sent away, and nobody waits behind him
// for long.
#pragma once

#include "etrace_options.h"

namespace penna {

int show_far(const EtraceOptions& options);  // the exit status

}  // namespace penna

// SPDX-License-Identifier: MIT
// etrace --listen: waits for the etrace of another machine, shows what it sends, ends with it.
//
// Invariant: it serves one peer, the first that is an etrace; any other is disconnected, and delays the next one only
// briefly.
#pragma once

#include "etrace_options.h"

namespace penna {

int show_far(const EtraceOptions& options);  // the exit status

}  // namespace penna

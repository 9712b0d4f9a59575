// SPDX-License-Identifier: MIT
// Programs that count their own calls for gprof (-pg): the agent interposes libc's hook (calls_x86_64.S), so libc's
// counting must still be called.
//
// Why not call libc's hook: it identifies the function by its return address, and would return there. So its inner
// function is called, which takes both addresses as arguments. If that is not found, the program is left to libc, and
// its calls are not recorded.
// Invariant: only a program that has started counting (monstartup) pays for this; others pay one comparison.
#pragma once

namespace penna::agent {

// From here on libc's counting is called, too, if the program counts.
void begin_to_count_for_gprof();

// Whether this program counts its calls.
bool counts_for_gprof();

}  // namespace penna::agent

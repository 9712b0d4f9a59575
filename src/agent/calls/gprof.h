// SPDX-License-Identifier: MIT
// Programs that count their own calls for gprof (-pg): the hook that libc has for that is ours (calls_x86_64.S), so
// libc's must be served, too.
//
// Why not by calling libc's: it learns the function from its return address, and would go back there. So its inner
// function is called, which takes both addresses as arguments; where that is not found, such a program is left to libc,
// and its calls are not recorded.
// Invariant: only a program that has begun to count (monstartup) pays for this; others pay one comparison.
#pragma once

namespace penna::agent {

// Does this program count its calls?
bool counts_for_gprof();

}  // namespace penna::agent

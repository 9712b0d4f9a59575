// SPDX-License-Identifier: MIT
// end_like: ends like the program: with the same exit status, or by the same signal (without a core dump of our own).
// Invariant: the shell sees of us what it would have seen of the program.
#pragma once

namespace penna {

// `status`: from waitpid. Returns an exit status, or does not return.
int end_like(int status);

}  // namespace penna

// SPDX-License-Identifier: MIT
// end_like: as the program ended, so do we: the same exit status, or death by the same signal (without a core of our
// own).
// Invariant: what the shell sees of us is what it would have seen of the program.
#pragma once

namespace penna {

// `status`: of waitpid. Gives an exit status, or does not return.
int end_like(int status);

}  // namespace penna

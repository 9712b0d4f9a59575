// SPDX-License-Identifier: MIT
// Those calls of dlopen that are passed on to the dynamic linker, so that nothing of ours comes behind them.
#pragma once

namespace penna::agent {

// The last dlopen of this thread may have brought modules that were not looked at, because it had to be the program's own call. Not in
// signal handlers.
void see_opened_module();

}  // namespace penna::agent

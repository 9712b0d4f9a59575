// SPDX-License-Identifier: MIT
// Allocators that programs and libraries bring, and whose functions are not reached through ours: a malloc in the program itself, which
// comes before every preloaded library's; a library's operators that do not go through malloc.
//
// Invariant: of an allocator, all functions of C are entered or none, and so are its operators: else blocks would be seen to come and
// not to go.
#pragma once

#include "penna/channel.h"

namespace penna::agent {

// Called from start(), once the channel takes records: asks the recorder for the allocators that there are. In a forked child they are
// entered already.
void start_allocators(const penna_config& config, bool forked);

}  // namespace penna::agent

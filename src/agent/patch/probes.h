// SPDX-License-Identifier: MIT
// Probes of other headers (sys/sdt.h) in the modules of this process: recorded as points, through code next to their
// nops that the recorder has generated (plan/probe_stub.h).
//
// Invariant: the nops stay visible, so that debuggers and the kernel find them; a semaphore is raised as long as its
// probe is armed.
#pragma once

#include <stdint.h>

#include "penna/patch_plan.h"

namespace penna::agent {

class NewModules;

// Whether probes are wanted. In a forked child, whose probes are armed: describes them to the new channel.
bool start_probes(const penna_config& config, bool forked);

// Asks the recorder about the probes of these modules, and arms them. `unless`: why none may be armed; the recording
// then names them.
void enter_probes(const NewModules& modules, penna_unless unless);

// Recording has ended: lowers all semaphores. Async-signal-safe.
void stop_probes();

// How many recorded probes have a name that matches the pattern; 0 once the recorder is gone. Async-signal-safe.
uint32_t count_probes(const char* pattern);

// The module that started here is unmapped.
void forget_probes(uintptr_t module_start);

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// Probes that other headers have made (sys/sdt.h), of the modules of this process: recorded as points, through code
// that the recorder has generated beside their nops (plan/probe_stub.h).
//
// Invariant: the nops stay as they are, so that debuggers and the kernel find them; a semaphore is raised as long as
// its probe is armed.
#pragma once

#include <stdint.h>

#include "penna/patch_plan.h"

namespace penna::agent {

class NewModules;

// Whether probes are wanted. In a forked child, whose probes are armed: tells them to the new channel.
bool start_probes(const penna_config& config, bool forked);

// Asks the recorder about the probes of these modules, and arms them. `unless`: none is to be armed, the recording
// shall name them.
void enter_probes(const NewModules& modules, penna_unless unless);

// Nobody records any more: semaphores are lowered. Async-signal-safe.
void stop_probes();

// How many have a name that the pattern matches and are recorded, until the recorder is gone. Async-signal-safe.
uint32_t count_probes(const char* pattern);

// The module that began here is unmapped.
void forget_probes(uintptr_t module_start);

}  // namespace penna::agent

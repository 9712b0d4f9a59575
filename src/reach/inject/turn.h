// SPDX-License-Identifier: MIT
// One recorder at a time at a process: for loading an agent, restoring a process, or making a copy of it for a trial.
//
// Why a socket's name: it goes away with its owner, however that dies, and leaves no file behind.
#pragma once

#include <sys/types.h>

#include "base/fd.h"

namespace penna {

// Waits up to ten seconds for the current owner: the surgeon of a killed recorder (surgeon.h), which undoes everything,
// is soon done. The turn ends when the descriptor is closed. Invalid: another process still has it. Works only within
// this network namespace; a recorder in another one is detected by its guest (guest.h) while that starts.
// Also invalid: the caller is the surgeon of a recorder that has died meanwhile.
Fd lock_target(pid_t pid);

// To follow "process N ", if the turn could not be taken.
inline constexpr const char* kTargetBusy = "is being attached to or restored by another penna record";

}  // namespace penna

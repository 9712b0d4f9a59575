// SPDX-License-Identifier: MIT
// is_readable(): whether a descriptor has something to read; a pidfd has when its process has ended (pidfd_open(2)).
//
// Invariant: nothing is read.
#pragma once

#include <poll.h>

namespace penna {

// Waits at most that many milliseconds; -1: until it is. False also if a signal interrupts it.
inline bool is_readable(int fd, int wait_ms = 0) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, wait_ms) > 0;
}

}  // namespace penna

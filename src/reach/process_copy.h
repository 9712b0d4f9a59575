// SPDX-License-Identifier: MIT
// ProcessCopy: a child of a running process that has a copy of its memory, for trying out what shall not be done to the
// process itself.
//
// The copy runs nothing of the program: it sleeps, has no descriptors, and sees no signal. What it shares with the
// process is memory that was mapped shared, which it never writes.
// Invariant: whoever dies, the copy ends: a surgeon ends it when we are killed, and it ends by itself after ten
// minutes. Its end is no signal for the process, and leaves no zombie behind: a borrowed thread waits for it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <utility>

#include "base/result.h"
#include "reach/surgeon.h"

namespace penna {

class ProcessCopy {
 public:
  // Error, as words behind "process N ".
  static Result<ProcessCopy> make(pid_t pid);
  ProcessCopy(ProcessCopy&& other) noexcept
      : surgeon_(std::move(other.surgeon_)), pid_(std::exchange(other.pid_, -1)) {}
  ProcessCopy& operator=(ProcessCopy&&) = delete;
  ~ProcessCopy() { (void)end(); }

  pid_t pid() const { return pid_; }
  // Error, as words behind "process N ": its zombie stays until the process ends.
  Result<> end();

 private:
  ProcessCopy(Surgeon surgeon, pid_t pid) : surgeon_(std::move(surgeon)), pid_(pid) {}

  std::optional<Surgeon> surgeon_;
  pid_t pid_;  // -1: ended
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// ProcessCopy: a child of a running process that has a copy of its memory, for trials that must not touch the process
// itself.
//
// The copy runs none of the program's code: it sleeps, has no descriptors, and sees no signal. It shares with the
// process only memory that was mapped shared, which it never writes.
// Invariant: the copy always ends: a surgeon ends it if we are killed, and it ends by itself after ten minutes. Its end
// sends the process no signal, and leaves no zombie behind: a borrowed thread waits for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/remote_ptr.h"
#include "base/result.h"
#include "reach/inject/surgeon.h"

namespace penna {

class ProcessCopy {
 public:
  enum class Trouble : char {
    kRefused = 'r',  // it cannot be copied
    kEnded = 'e',    // it, or the copy, ended in the midst
    kLocked = 'l',   // one of `locks` was held
  };
  static constexpr const char* kLockedText = "could not be copied: its threads always hold a lock that the agent needs";
  // The error is text to follow "process N ", and *trouble says which. `locks`: where in the process there are locks
  // that must be free in the copy, for nothing releases them there.
  static Result<ProcessCopy> make(pid_t pid, const std::vector<RemotePtr<uint32_t>>& locks, Trouble* trouble);
  ProcessCopy(ProcessCopy&& other) noexcept
      : surgeon_(std::move(other.surgeon_)), pid_(std::exchange(other.pid_, -1)) {}
  ProcessCopy& operator=(ProcessCopy&&) = delete;
  ~ProcessCopy() { (void)end(); }

  pid_t pid() const { return pid_; }
  // The error is text to follow "process N ": its zombie stays until the process ends.
  Result<> end();

 private:
  ProcessCopy(Surgeon surgeon, pid_t pid) : surgeon_(std::move(surgeon)), pid_(pid) {}

  std::optional<Surgeon> surgeon_;
  pid_t pid_;  // -1: ended
};

}  // namespace penna

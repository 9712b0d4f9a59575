// SPDX-License-Identifier: MIT
// HeldStart: a program of ours that is held between its libc's start and its own first code, so that an agent can come
// alone before anything happens that is to be recorded.
//
// How: its exec is seen, a breakpoint ends at _init, and there it runs in a loop of two bytes, traced by nobody. Who
// brings the agent finds a process that runs, like any other (inject.h).
// Why _init: in front of it there is no thread pointer yet, behind it are the constructors. Without one, main.
// Invariant: the two bytes are put back by let_go(), and only they were changed. All calls are made by one thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/result.h"
#include "reach/remote_memory.h"

namespace penna {

class HeldStart {
 public:
  // A process that waits to become the program: its exec will be seen. The error is a sentence.
  static Result<> watch(pid_t pid);
  // From its exec on, which may be to come, until it is held; signals take their course. Error, as words behind
  // "process N ": it has ended, or runs and is not held.
  static Result<HeldStart> hold(pid_t pid);
  // It is stopped at its exec, and traced by us.
  static Result<HeldStart> hold_at_exec(pid_t pid);
  // It begins. False: it has ended.
  bool let_go() const;

 private:
  HeldStart(pid_t pid, RemoteMemory memory, uint64_t at) : pid_(pid), memory_(std::move(memory)), at_(at) {}
  static Result<HeldStart> place(pid_t pid);
  bool await() const;
  bool put_back() const;

  pid_t pid_;
  RemoteMemory memory_;
  uint64_t at_;                      // run-time address
  std::array<uint8_t, 2> before_{};  // what is there without us
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// HeldStart: a program that we start and hold between its libc's start and its own first code, so that a stand-alone
// agent can be loaded before any event to record.
//
// How: its exec is seen, a breakpoint stops it at _init, and there it runs in a loop of two bytes, untraced. The code
// that loads the agent finds a running process, like any other (inject.h).
// Why _init: before it there is no thread pointer yet, after it come the constructors. Without an _init, main.
// Callers that need nothing of the program's libc have it held at its entry, which every program has.
// Invariant: let_go() restores the two bytes, and nothing else was changed. All calls are made by one thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/result.h"
#include "reach/process/remote_memory.h"

namespace penna {

class HeldStart {
 public:
  enum class Place : uint8_t { kInit, kEntry };
  // A process that waits to become the program: its exec will be seen. The error is a sentence.
  static Result<> watch(pid_t pid);
  // From its exec on, which may still be to come, until it is held; signals are delivered. The error is text to follow
  // "process N ": it has ended, or runs and is not held.
  static Result<HeldStart> hold(pid_t pid, Place where = Place::kInit);
  // It is stopped at its exec, and traced by us.
  static Result<HeldStart> hold_at_exec(pid_t pid, Place where = Place::kInit);
  // It begins. False: it has ended.
  bool let_go() const;

 private:
  HeldStart(pid_t pid, RemoteMemory memory, RemoteBytes at) : pid_(pid), memory_(std::move(memory)), at_(at) {}
  static Result<HeldStart> place(pid_t pid, Place where);
  bool await() const;
  bool put_back() const;

  pid_t pid_;
  RemoteMemory memory_;
  RemoteBytes at_;
  std::array<uint8_t, 2> before_{};  // the original bytes
  bool blocks_traps_ = false;        // began with SIGTRAP blocked
};

}  // namespace penna

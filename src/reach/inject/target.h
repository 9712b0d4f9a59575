// SPDX-License-Identifier: MIT
// Target: what is known about a process before it is touched, and access to one of its threads to make system calls in
// it.
//
// Invariant: looking changes nothing. A borrowed thread continues where it was, even if we are killed
// (borrowed_thread.h).
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reach/inject/guest.h"
#include "reach/process/borrowed_thread.h"
#include "reach/process/remote_libraries.h"
#include "reach/process/remote_memory.h"
#include "reach/start/standalone_program.h"

namespace penna {

struct Target {
  pid_t pid;
  RemoteMemory memory;
  std::vector<RemoteLibrary> libraries;
  const RemoteLibrary* libc = nullptr;  // both point into `libraries`
  const RemoteLibrary* linker = nullptr;
  std::vector<RemoteRange> system_code;  // of those two
  GuestNeeds needs;
  BorrowedCode code;
  std::optional<StandaloneProgram> standalone;  // for a program without a dynamic linker: then it is its own libc
};

// Whether it runs a program that no dynamic linker has loaded.
bool is_standalone(pid_t pid);

// Waits for a process that is just starting. The error is text to follow "process N ".
Result<Target> examine(pid_t pid);

// libc does without locks and atomic operations as long as it believes that the process has one thread.
void say_not_single_threaded(const Target& target);

// Calls work(thread) with a thread that is outside of malloc and stdio, if that matters: a single-threaded process
// takes no locks there, so another thread could not wait for it. Returns `work`'s result, or why no thread could be
// borrowed, as text to follow "process N "; empty on success.
using BorrowedWork = std::function<std::string(BorrowedThread& thread)>;
std::string with_borrowed_thread(const Target& target, const BorrowedWork& work);

}  // namespace penna

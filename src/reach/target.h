// SPDX-License-Identifier: MIT
// Target: what is known of a process before it is touched, and one of its threads to make system calls in it.
//
// Invariant: looking changes nothing. A borrowed thread goes on where it was, whoever dies (borrowed_thread.h).
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reach/alone_program.h"
#include "reach/borrowed_thread.h"
#include "reach/guest.h"
#include "reach/remote_libraries.h"
#include "reach/remote_memory.h"

namespace penna {

struct Target {
  pid_t pid;
  RemoteMemory memory;
  std::vector<RemoteLibrary> libraries;
  const RemoteLibrary* libc = nullptr;  // both among `libraries`
  const RemoteLibrary* linker = nullptr;
  std::vector<RemoteRange> system_code;  // of these two
  GuestNeeds needs;
  BorrowedCode code;
  std::optional<AloneProgram> alone;  // of a program without a dynamic linker: then it is its own libc
};

// Does it run a program that no dynamic linker has loaded?
bool is_alone(pid_t pid);

// Waits for a process that is just starting. Error, as words behind "process N ".
Result<Target> examine(pid_t pid);

// libc does without locks and atomic operations as long as it believes that the process has one thread.
void say_not_single_threaded(const Target& target);

// Calls work(thread) with a thread that is outside of malloc and stdio, where that matters: a process of one thread
// takes no locks there, so nobody else could wait for it to be through. What `work` returns, or why no thread can be
// had, as words behind "process N "; empty: it is done.
using BorrowedWork = std::function<std::string(BorrowedThread& thread)>;
std::string with_borrowed_thread(const Target& target, const BorrowedWork& work);

}  // namespace penna

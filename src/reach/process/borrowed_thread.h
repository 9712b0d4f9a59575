// SPDX-License-Identifier: MIT
// BorrowedThread: makes a thread of another process perform system calls for us; the thread then continues where it
// was.
//
// Why with a return path on the thread's own stack: if we are killed in the middle, the thread returns from the call to
// that path, by itself (home_frame_x86_64.h). Signals are blocked meanwhile.
// Invariant: used only on our thread that traces it. No call made sleeps: the kernel would forget how much of the
// thread's own sleep is left.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "reach/process/remote_libraries.h"
#include "reach/process/remote_memory.h"
#include "reach/process/thread_state.h"

namespace penna {

// Existing code of the process to use for it. Not our own: a page that we map would itself need a system call first.
struct BorrowedCode {
  CodePtr system_call;  // performs one, and returns
  CodePtr sigreturn;    // returns from a signal handler
  CodePtr pop_number;   // pops rax, and returns: if no program code sets handlers, there is no sigreturn
  bool is_enough() const { return system_call && (sigreturn || pop_number); }
};
// Searches libc's code; null: not found.
BorrowedCode find_borrowed_code(const RemoteMemory& memory, const RemoteRange& code);

class BorrowedThread {
 public:
  // The options that the thread is traced with.
  static constexpr uint64_t kOptions = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
  // `thread` is traced, with kOptions, and stopped by an interrupt; `code` is sufficient. Empty: borrowing failed.
  static std::optional<BorrowedThread> borrow(pid_t pid, pid_t thread, const RemoteMemory& memory,
                                              const BorrowedCode& code);
  // The kernel's result: -4095 to -1 is an error. Empty: the thread is gone.
  std::optional<int64_t> call(long number, const std::array<uint64_t, 6>& arguments);
  // Makes a child of the process that has a copy of its memory and runs none of its code: it sleeps for ten minutes,
  // then exits through `exit_function`. When this returns the child is untraced, and its end sends the process no
  // signal. Empty, or an error like call()'s: it was not made.
  struct Child {
    pid_t pid;      // in our PID namespace
    int64_t there;  // in the process's own PID namespace; or an error
  };
  std::optional<Child> copy_process(const RemoteMemory& memory, CodePtr exit_function);
  // From here on, the system call that the stop has cut is finished there (thread_state.h).
  void finish_calls_at(CodePtr code) { saved_.finish_calls_at(code); }
  // The thread is then stopped, in its original state; false: it is gone, or already returning by itself.
  bool release();

  pid_t id() const { return thread_; }
  const ThreadState& state() const { return saved_; }

 private:
  BorrowedThread(pid_t pid, pid_t thread, const BorrowedCode& code) : pid_(pid), thread_(thread), code_(code) {}
  std::optional<pid_t> new_child();
  bool settle(const ThreadState& original);
  bool prepare_call(long number, const std::array<uint64_t, 6>& arguments);
  bool to_next_call_stop();

  pid_t pid_, thread_;
  BorrowedCode code_;
  ThreadState saved_;
  RemotePtr<uint64_t> return_path_;  // on the stack: where a call returns to
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// BorrowedThread: a thread of another process makes system calls for us, and goes on where it was.
//
// Why with a way home on its own stack: if we are killed in the middle, it returns from the call to there, by itself
// (home_frame_x86_64.h). Signals wait meanwhile.
// Invariant: by the thread of ours that traces it. The calls made are none that sleep: the kernel would forget how much
// of the thread's own sleep is left.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "reach/remote_libraries.h"
#include "reach/remote_memory.h"
#include "reach/thread_state.h"

namespace penna {

// Code of the process's own that serves for it.
// Not of ours: a page that we had mapped first would itself need a system call.
struct BorrowedCode {
  uint64_t system_call = 0;  // makes one, and returns
  uint64_t sigreturn = 0;    // returns from a signal handler
  uint64_t pop_number = 0;   // takes rax from the stack, and returns: where there is no sigreturn, as no handler is
  bool is_enough() const { return system_call != 0 && (sigreturn != 0 || pop_number != 0); }
};
// From libc's code; zero: it has none.
BorrowedCode find_borrowed_code(const RemoteMemory& memory, const RemoteRange& code);

class BorrowedThread {
 public:
  // With which it is traced.
  static constexpr uint64_t kOptions = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
  // `thread` is traced, with kOptions, and stopped by an interrupt; `code` is whole. Nothing: it cannot.
  static std::optional<BorrowedThread> borrow(pid_t pid, pid_t thread, const RemoteMemory& memory,
                                              const BorrowedCode& code);
  // What the kernel gives: -4095 to -1 is an error. Nothing: the thread is gone.
  std::optional<int64_t> call(long number, const std::array<uint64_t, 6>& arguments);
  // Makes a child of the process that has a copy of its memory and runs nothing of it: it sleeps for ten minutes, then
  // exits by `exit_function`. Nobody traces it when this returns, and its end sends the process no signal.
  // Nothing, or an error as of call(): it was not made.
  struct Child {
    pid_t pid;      // for us
    int64_t there;  // for the process, in its own PID namespace; or an error
  };
  std::optional<Child> copy_process(const RemoteMemory& memory, uint64_t exit_function);
  // The thread is stopped then, as it was; false: it is gone, or on its way home by itself.
  bool give_back();

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
  uint64_t way_home_ = 0;  // of the stack: where a call returns to
};

}  // namespace penna

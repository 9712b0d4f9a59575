// SPDX-License-Identifier: MIT
// StoppedProcess: every thread of another process, stopped, for as long as this object lives.
//
// Why all: code cannot be replaced under a thread that is in the middle of it.
// Invariant: used by one thread of ours, whose end releases them, too. They continue as if they had not been stopped: a
// call that a stop ends with EINTR is restarted. References: ptrace(2), PTRACE_SEIZE.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "reach/process/remote_libraries.h"
#include "reach/process/thread_state.h"

namespace penna {

struct StoppedThread {
  pid_t id = 0;
  ThreadState state;
};

// Whether a tracer is one of ours that will be gone in a moment, or is gone by now: for example one that restores the
// process for a killed recorder.
bool is_passing(pid_t tracer);

class StoppedProcess {
 public:
  // The error is a sentence: no permission, the process is gone or became another program, or a thread cannot be
  // stopped now (such as one that waits in vfork for its child).
  static Result<StoppedProcess> stop(pid_t pid);
  StoppedProcess(StoppedProcess&&) = default;
  StoppedProcess& operator=(StoppedProcess&& other) noexcept {
    let_go();
    threads_ = std::move(other.threads_);
    since_ = other.since_;
    return *this;
  }
  ~StoppedProcess() { let_go(); }

  std::span<const StoppedThread> threads() const { return threads_; }
  // When the first of them was stopped.
  std::chrono::steady_clock::time_point since() const { return since_; }
  // Whether any thread is in one of these ranges, or will be when it returns from a signal handler. `sigreturn`: where
  // handlers return to.
  template <typename IsInside>
  bool any_in(const RemoteMemory& memory, CodePtr sigreturn, IsInside&& is_inside) const {
    for (const StoppedThread& one : threads_) {
      if (is_inside(one.state.pc())) return true;
      for (const CodePtr pc : interrupted_pcs(memory, one.state, sigreturn))
        if (is_inside(pc)) return true;
    }
    return false;
  }
  // From here on, system calls that the stop has cut are finished there (thread_state.h).
  void finish_calls_at(CodePtr code) {
    for (StoppedThread& one : threads_) one.state.finish_calls_at(code);
  }
  void let_go();
  // They stay stopped, and are the caller's to release.
  std::vector<StoppedThread> keep() { return std::exchange(threads_, {}); }

 private:
  StoppedProcess() = default;
  static Result<StoppedProcess> try_to_stop(pid_t pid, bool* is_traced);
  std::optional<Error> seize_new(pid_t pid, bool* is_traced);
  static std::optional<Error> await(pid_t pid, StoppedThread* one);
  std::vector<StoppedThread> threads_;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace penna

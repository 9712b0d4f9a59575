// SPDX-License-Identifier: MIT
// StoppedProcess: every thread of another process, stopped, for as long as this lives.
//
// Why all: code that a thread is in the middle of cannot be replaced under it.
// Invariant: by one thread of ours, whose end lets go of them, too. They go on as if they had not been stopped: what a
// stop ends with EINTR begins anew. References: ptrace(2), PTRACE_SEIZE.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "reach/remote_libraries.h"
#include "reach/thread_state.h"

namespace penna {

struct StoppedThread {
  pid_t id = 0;
  ThreadState state;
};

// Whether a tracer is one of ours that will be gone in a moment, or is gone by now: it puts the process back for a
// recorder that has been killed, say.
bool is_passing(pid_t tracer);

class StoppedProcess {
 public:
  // Error, as a sentence: we may not, it is gone or became another program, or a thread cannot be stopped now (as one
  // that waits in vfork for its child).
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
  // Is any thread in one of these ranges, or will it be when it comes back from a signal handler? `sigreturn`: where
  // handlers return to.
  template <typename IsInside>
  bool any_in(const RemoteMemory& memory, uint64_t sigreturn, IsInside&& is_inside) const {
    for (const StoppedThread& one : threads_) {
      if (is_inside(one.state.pc())) return true;
      for (const uint64_t pc : interrupted_pcs(memory, one.state, sigreturn))
        if (is_inside(pc)) return true;
    }
    return false;
  }
  void let_go();
  // They stay stopped, and are the caller's to let go of.
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

// SPDX-License-Identifier: MIT
// Guardian: traces processes and records them by breakpoints, in a process that outlives the recorder (surgeon.h).
//
// Invariant: every thread that can hit a breakpoint is traced by us. Signals reach the program as they arrive, at an
// address of its own code. When we leave, or the recorder is gone, the bytes are restored first, and each thread is
// detached where it would be without us.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "breakpoint/guardian_plan.h"
#include "breakpoint/traced_process.h"
#include "reach/stopped_process.h"

namespace penna {

// For every traced thread.
inline constexpr uint64_t kTraceOptions =
    PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

class Guardian {
 public:
  explicit Guardian(GuardianPlan plan) : plan_(std::move(plan)) {}
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // For a process that is about to become the program. Returns a sentence; empty: it is traced.
  std::string await_program(pid_t pid);
  // For a running process. Likewise; on failure it is unchanged.
  std::string attach(pid_t pid);
  // Records until `socket` is readable.
  void work(int socket);
  // Restores everything and detaches.
  struct Left {
    uint64_t places = 0, modules = 0, kept = 0;
    std::vector<std::string> notes;  // what was not recorded, as sentences
  };
  Left leave();

 private:
  std::vector<std::string> notes() const;

  // guardian.cc
  void handle(pid_t thread, int status);
  void handle_event(TracedThread& thread, int event, int signal);
  void handle_stop(TracedThread& thread, int signal);
  void handle_signal(TracedThread& thread, int signal);
  void deliver(TracedThread& thread, int signal);
  void end_step(TracedThread& thread, uint64_t pc);
  void add_new_child(TracedThread& parent);
  void thread_is_gone(pid_t thread);
  void go_on(pid_t thread, int signal = 0);
  TracedThread& add_thread(pid_t id, TracedProcess* process);
  bool is_last_of_process(const TracedThread& thread) const;
  void let_go(TracedThread& thread, bool is_group_stop);
  void let_go_of_all();

  // guardian_processes.cc
  void become_program(TracedThread& thread);
  Result<TracedProcess*> begin_program(pid_t pid, uint64_t start_ticks);
  void set_breakpoints(TracedProcess& process, pid_t thread, uint64_t start_ticks);
  const FilePlan& plan_of(TracedProcess& process, const TracedModule& module);
  void plan_module(TracedProcess& process, pid_t thread, const TracedModule& module);
  bool connect_to_recorder(TracedProcess& process, ThreadLog& log, const ChannelOwner& owner);
  TracedProcess* fork_process(TracedThread& parent, pid_t pid, ThreadLog& log, uint64_t now);

  // guardian_events.cc
  void handle_breakpoint(TracedThread& thread, const CodePatch& patch, Registers& registers);
  void continue_behind(TracedThread& thread, const CodePatch& patch, Registers& registers);
  void enter(TracedThread& thread, const Meaning& meaning, const Registers& registers, uint64_t function, uint64_t now);
  void pass_point(TracedThread& thread, const TracedPoint& point, const Registers& registers, uint64_t at,
                  uint64_t now);
  void jump(TracedThread& thread, JumpCall what, const Registers& registers, uint64_t now);
  void enter_allocator(TracedThread& thread, EnteredCall call, const Registers& registers, uint64_t now);
  void enter_lock(TracedThread& thread, EnteredCall call, const Registers& registers, uint64_t now);
  bool await_return(TracedThread& thread, const EnteredCall& call);
  void leave_functions(TracedThread& thread, uint64_t slot, uint64_t at, const Registers& registers, uint64_t now);
  void leave_dead(TracedThread& thread, uint64_t slot, uint64_t function, uint64_t now);
  void returned(TracedThread& thread, const EnteredCall& call, const Registers& registers, uint64_t now);
  void allocated(TracedThread& thread, const EnteredCall& call, uint64_t result, uint64_t now);
  void lock_returned(TracedThread& thread, const EnteredCall& call, uint64_t result, uint64_t now);
  ThreadLog& log_of(TracedThread& thread);

  GuardianPlan plan_;
  // Owned here, by pid; threads point to them. Pointers, so that addresses stay valid.
  std::map<pid_t, std::unique_ptr<TracedProcess>> processes_;
  // A map, because handlers keep references while threads are added.
  std::map<pid_t, TracedThread> threads_;
  std::map<pid_t, int> early_;                             // threads that stopped before their creation was reported
  std::map<std::string, FilePlan> plans_;                  // by path and build-id
  std::map<std::string, std::string> refused_;             // functions, and why
  std::vector<std::string> troubles_;                      // with programs, as sentences
  uint64_t unfollowed_ = 0;                                // forked processes that the recorder did not admit
  uint64_t unreturned_ = 0;                                // calls whose return could not be seen
  bool has_allocator_ = false, wants_allocators_ = false;  // some program had one; they are recorded
  // From leave() on: stops no longer record, but detach.
  bool is_leaving_ = false;
  uint64_t events_ = 0, stops_ = 0;
};

}  // namespace penna

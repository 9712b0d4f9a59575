// SPDX-License-Identifier: MIT
// Guardian: traces processes and records them by breakpoints, in a process that outlives the recorder (surgeon.h).
//
// Invariant: every thread that can hit a breakpoint is traced by us. Signals reach the program as they arrive, at an
// address of its own code. When we leave, or the recorder is gone, the bytes are restored first, and each thread is
// detached where it would be without us.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "breakpoint/guardian_plan.h"
#include "breakpoint/traced_events.h"
#include "reach/process/stopped_process.h"

namespace penna {

// For every traced thread.
inline constexpr uint64_t kTraceOptions =
    PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

class Guardian : private TracedEvents {
 public:
  explicit Guardian(GuardianPlan plan) : TracedEvents(std::move(plan)) {}

  // For a process that is about to become the program. Returns a sentence; empty: it is traced.
  std::string await_program(pid_t pid);
  // For a running process. Likewise; on failure it is unchanged.
  std::string attach(pid_t pid);
  // Records until `socket` is readable.
  void work(int socket);
  // Restores everything and detaches.
  LeftPlaces leave();

 private:
  // guardian.cc
  pid_t handle_next();
  void handle(pid_t thread, int status);
  void handle_event(TracedThread& thread, int event, int signal);
  void handle_stop(TracedThread& thread, int signal);
  void handle_signal(TracedThread& thread, int signal);
  void deliver(TracedThread& thread, int signal);
  static void send_held(TracedThread& thread, size_t first);
  void deliver_trap(TracedThread& thread);
  void keep_trap_action(TracedThread& thread);
  bool stop_others(TracedThread& thread);
  void await_stop(pid_t pid, pid_t thread, long patience_us);
  void end_step(TracedThread& thread, uint64_t pc);
  bool may_lack_action(TracedThread& forked_by);
  void add_new_child(TracedThread& parent);
  void thread_is_gone(pid_t thread);
  void go_on(pid_t thread, int signal = 0);
  TracedThread& add_thread(pid_t id, TracedProcess* process);
  bool is_last_of_process(const TracedThread& thread) const;
  void let_go(TracedThread& thread, bool is_group_stop);
  void let_go_of_all();

  // guardian_processes.cc
  void become_program(TracedThread& thread);
  void set_breakpoints(TracedProcess& process, pid_t thread, uint64_t start_ticks);
  void set_places(TracedProcess& process, pid_t thread, const TracedModule& module) override;
  bool can_await(TracedThread& thread, const EnteredCall& call) override;
  TracedProcess* fork_process(TracedThread& parent, pid_t pid, ThreadLog& log, uint64_t now);
  void handle_breakpoint(TracedThread& thread, const CodePatch& patch, Registers& registers);
  void continue_behind(TracedThread& thread, const CodePatch& patch, Registers& registers);

  std::deque<std::pair<pid_t, int>> unhandled_;  // stops, with their status
  std::map<pid_t, int> early_;                   // threads that stopped before their creation was reported
  // From leave() on: stops no longer record, but detach.
  bool is_leaving_ = false;
  uint64_t events_ = 0, stops_ = 0;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// TracedEvents: processes without an agent, and what is recorded when their threads hit places: calls, allocations,
// locks, points. Derived classes see the hits, by breakpoints (guardian.h) or by uprobes (uprobe_watch.h).
//
// The return of a function is recognized by its thread and the stack pointer that it was called with: the stack itself
// stays unchanged, so unwinders, longjmp and exceptions see nothing of us.
// Invariant: used by one thread of ours.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "breakpoint/guardian_plan.h"
#include "breakpoint/traced_process.h"

namespace penna {

// What became of the places in the end.
struct LeftPlaces {
  uint64_t places = 0, modules = 0, kept = 0;  // restored, in so many modules; changed by others, so left alone
  std::vector<std::string> notes;              // what was not recorded, as sentences
};

class TracedEvents {
 public:
  TracedEvents(const TracedEvents&) = delete;
  TracedEvents& operator=(const TracedEvents&) = delete;

 protected:
  explicit TracedEvents(GuardianPlan plan) : plan_(std::move(plan)) {}
  virtual ~TracedEvents() = default;

  // traced_begin.cc
  // `pid` is a known thread. The process is then connected to the recorder.
  Result<TracedProcess*> begin_program(pid_t pid, uint64_t start_ticks);
  // A fork of `parent`. Null: its memory cannot be opened.
  TracedProcess* copy_process(const TracedProcess& parent, pid_t pid);
  // Connects `child` to the recorder. `log`: of its only thread.
  void introduce_fork(TracedThread& parent, TracedProcess& child, ThreadLog& log, uint64_t now);
  const FilePlan& plan_of(TracedProcess& process, const TracedModule& module);
  std::vector<std::string> notes() const;

  // traced_events.cc
  // A thread has hit the place at the run-time address `at`.
  void meet(TracedThread& thread, uint64_t at, const Registers& registers, uint64_t now);
  // It has left, or is about to leave, the functions whose return address is `at`, stored at `slot`.
  void leave_functions(TracedThread& thread, uint64_t slot, uint64_t at, const Registers& registers, uint64_t now);
  ThreadLog& log_of(TracedThread& thread);
  // For a module that was loaded.
  virtual void set_places(TracedProcess& process, pid_t thread, const TracedModule& module) = 0;
  // Whether its return will be seen.
  virtual bool can_await(TracedThread& thread, const EnteredCall& call) = 0;

  GuardianPlan plan_;
  // Owned here, by pid; threads point to them. Pointers, so that addresses stay valid.
  std::map<pid_t, std::unique_ptr<TracedProcess>> processes_;
  // A map, because handlers keep references while threads are added.
  std::map<pid_t, TracedThread> threads_;
  std::map<std::string, FilePlan> plans_;                  // by path and build-id
  std::map<std::string, std::string> refused_;             // functions, and why
  std::vector<std::string> troubles_;                      // with programs, as sentences
  uint64_t unfollowed_ = 0;                                // forked processes that the recorder did not admit
  uint64_t unreturned_ = 0;                                // calls whose return could not be seen
  bool has_allocator_ = false, wants_allocators_ = false;  // some program had one; they are recorded

 private:
  bool connect_to_recorder(TracedProcess& process, ThreadLog& log, const ChannelOwner& owner);
  void enter(TracedThread& thread, const Meaning& meaning, const Registers& registers, uint64_t function, uint64_t now);
  void pass_point(TracedThread& thread, const TracedPoint& point, const Registers& registers, uint64_t at,
                  uint64_t now);
  void jump(TracedThread& thread, JumpCall what, const Registers& registers, uint64_t now);
  void enter_allocator(TracedThread& thread, EnteredCall call, const Registers& registers, uint64_t now);
  void enter_lock(TracedThread& thread, EnteredCall call, const Registers& registers, uint64_t now);
  bool await_return(TracedThread& thread, const EnteredCall& call);
  void leave_dead(TracedThread& thread, uint64_t slot, uint64_t function, uint64_t now);
  void returned(TracedThread& thread, const EnteredCall& call, const Registers& registers, uint64_t now);
  void allocated(TracedThread& thread, const EnteredCall& call, uint64_t result, uint64_t now);
  void lock_returned(TracedThread& thread, const EnteredCall& call, uint64_t result, uint64_t now);
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// TracedProcess: one address space that is recorded by breakpoints: its modules, its breakpoints and what they mean,
// its threads and their open calls, and its channel.
//
// Invariant: every thread that runs in it is traced by us. Used by one thread of ours.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "breakpoint/channel_writer.h"
#include "breakpoint/code_patches.h"
#include "breakpoint/registers_x86_64.h"
#include "breakpoint/remote_stack.h"
#include "breakpoint/traced_functions.h"
#include "breakpoint/trap_action.h"

namespace penna {

// A function that was entered and is expected to return.
struct EnteredCall {
  // With the thread, distinguishes calls of the same function.
  uint64_t slot = 0;  // address of its return address
  uint64_t returns_to = 0;
  uint64_t function = 0;
  Meaning meaning;
  uint64_t arguments[3] = {};
  uint32_t stack = 0;  // of its caller
  uint32_t owner = 0;  // of the lock being waited for
  bool waits = false;  // for a lock, judging by its memory
  penna_sync sync = PENNA_SYNC_MUTEX;
  uint64_t begin = 0;  // ticks
};

class TracedProcess;

struct TracedThread {
  pid_t id = 0;
  TracedProcess* process = nullptr;  // null: no longer followed
  ThreadLog own_log;
  pid_t on_behalf_of = 0;  // a vfork child records as the thread that made it
  std::vector<EnteredCall> open;
  uint64_t last = 0;   // of uprobes: ticks of its newest event
  uint64_t again = 0;  // this breakpoint was hit, and is hit again because of a signal
  bool steps = false;  // single-steps out of a copy; `held` is delivered after that
  std::vector<siginfo_t> held;
  bool may_lack_action = false;  // born where another thread's hit may have taken the handler of SIGTRAP away
  bool enters_handler = false;   // of SIGTRAP, and stops at its first instruction
};

class TracedProcess {
 public:
  TracedProcess(pid_t pid, RemoteMemory memory) : pid_(pid), memory_(std::move(memory)), stack_(modules_) {}
  // A fork of `other`: everything in it exists here too.
  TracedProcess(pid_t pid, RemoteMemory memory, const TracedProcess& other);

  pid_t pid() const { return pid_; }
  const RemoteMemory& memory() const { return memory_; }
  std::optional<ChannelWriter>& writer() { return writer_; }
  CodePatches& patches() { return patches_; }
  const std::deque<TracedModule>& modules() const { return modules_; }

  // Finds what has been mapped and unmapped. Returns the new ones.
  std::vector<const TracedModule*> look_at_modules();
  void announce_module(ThreadLog& log, const TracedModule& module, uint64_t time);
  void announce_modules(ThreadLog& log, uint64_t time);

  size_t modules_with_breakpoints() const;

  // Makes `thread`, which is stopped, map memory for copies near `module`, unless there is some. False: there is none.
  bool make_area(pid_t thread, const TracedModule& module);
  void remove_areas(pid_t thread);
  // The handler for SIGTRAP, and a stopped thread that can be made to look at it.
  TrapAction& trap_action() { return trap_action_; }
  TrapAction::Caller caller(pid_t thread) { return {thread, system_call(), memory_}; }
  // What is at a place that has no breakpoint of ours.
  void expect(uint64_t at, const Meaning& meaning) { meanings_[at] = meaning; }
  void show_only(std::span<const RemoteMemory::Piece> pieces) { memory_.show_only(pieces); }
  // Null: it is inserted; else the reason.
  const char* add(const TracedModule& module, const PlannedPlace& place);
  // Probe semaphores stay incremented as long as the probe is traced.
  void lower_semaphores();
  // Null: as far as we know, functions do not return there.
  const CodePatch* add_return(uint64_t address);
  const Meaning* meaning_at(uint64_t address) const {
    const auto found = meanings_.find(address);
    return found == meanings_.end() ? nullptr : &found->second;
  }

  // Stack pointers for jump buffers; 0: unknown.
  void save_jump(uint64_t buffer, uint64_t sp) { jumps_[buffer] = sp; }
  uint64_t jump_target(uint64_t buffer) const {
    const auto found = jumps_.find(buffer);
    return found == jumps_.end() ? 0 : found->second;
  }
  // Whether the lock's next acquisition gets a stack.
  bool wants_stack(uint64_t lock);

  // A point's number in records; it is announced on first use.
  uint32_t number_of(const TracedPoint& point, uint64_t address, ThreadLog& log, uint64_t time);

  // The node of a stack in the channel; 0: unknown.
  uint32_t stack(const WalkStart& at);

 private:
  pid_t pid_;
  RemoteMemory memory_;
  uint64_t system_call();
  std::optional<ChannelWriter> writer_;  // empty: it has not connected to the recorder
  CodePatches patches_;
  TrapAction trap_action_;
  uint64_t system_call_ = 0;  // address of an instruction; 0: not yet searched
  std::deque<TracedModule> modules_;
  RemoteStack stack_;
  void change_semaphore(RemotePtr<uint16_t> at, int by) const;
  std::unordered_map<uint64_t, Meaning> meanings_;  // by run-time address
  std::vector<RemotePtr<uint16_t>> semaphores_;     // that we have incremented
  std::unordered_map<uint64_t, uint32_t> points_;   // their numbers, by address
  // Never cleared: a buffer is reused, and an old entry is overwritten by the next setjmp.
  std::unordered_map<uint64_t, uint64_t> jumps_;         // by buffer
  std::unordered_map<uint64_t, uint32_t> acquisitions_;  // by lock
};

}  // namespace penna

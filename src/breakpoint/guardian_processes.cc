// SPDX-License-Identifier: MIT
// See guardian.h: how a starting or running program is examined and gets its breakpoints.
#include <fmt/core.h>
#include <unistd.h>

#include "base/command_line.h"
#include "base/count_text.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "breakpoint/guardian.h"
#include "penna/clock.h"

namespace penna {

bool Guardian::can_await(TracedThread& thread, const EnteredCall& call) {
  return thread.process->add_return(call.returns_to) != nullptr;
}

void Guardian::handle_breakpoint(TracedThread& thread, const CodePatch& patch, Registers& registers) {
  // Before anything else: our handling takes microseconds.
  const uint64_t now = penna_now();
  TracedProcess& process = *thread.process;
  const uint64_t at = patch.at;
  const bool is_again = thread.again == at;
  thread.again = 0;
  if (!is_again && process.writer() && !is_leaving_) {
    ++events_;
    meet(thread, at, registers, now);
  }
  // Looked up again: meet() may have found that the module is gone.
  if (const CodePatch* still = process.patches().find(at)) continue_behind(thread, *still, registers);
}

void Guardian::continue_behind(TracedThread& thread, const CodePatch& patch, Registers& registers) {
  const RemoteMemory& memory = thread.process->memory();
  switch (patch.instruction.way) {
    case DisplacedInstruction::kNothing: Registers::set_pc(thread.id, patch.behind()); break;
    case DisplacedInstruction::kCopy: Registers::set_pc(thread.id, patch.copy); break;
    case DisplacedInstruction::kCall: {
      const auto target = registers.value(patch.instruction.target, memory);
      // As the call would have done it: the return address is in the program's own code.
      if (target && memory.write(RemotePtr<uint64_t>(registers.sp()) - 1, patch.behind())) {
        registers.call(*target);
        registers.set(thread.id);
        break;
      }
      // The call would fault. The program must execute it at its original place and take its own fault; this breakpoint
      // is given up for that.
      memory.write(RemoteBytes(patch.at), patch.before);
      Registers::set_pc(thread.id, patch.at);
    }
  }
}

void Guardian::set_places(TracedProcess& process, pid_t thread, const TracedModule& module) {
  if (!process.writer()) return;
  const FilePlan& plan = plan_of(process, module);
  wants_allocators_ |= process.writer()->records(PENNA_ALLOC);
  // One system call in the program, and only where a breakpoint is wanted; functions may return into every module.
  if (plan.places.empty() && process.patches().is_empty()) return;
  const bool has_area = process.make_area(thread, module);
  for (const PlannedPlace& place : plan.places) {
    const char* refusal = has_area ? process.add(module, place) : "has no free memory within reach of a jump";
    if (refusal != nullptr) refused_[place.name] = refusal;
    has_allocator_ |= refusal == nullptr && place.meaning.allocator != AllocatorCall::kNone;
  }
}

// Null: it could not be introduced, and passes its breakpoints unrecorded.
TracedProcess* Guardian::fork_process(TracedThread& parent, pid_t pid, ThreadLog& log, uint64_t now) {
  TracedProcess* const process = copy_process(*parent.process, pid);
  if (process == nullptr) return nullptr;
  // The bytes were restored in the parent, but its child was copied before that, or in the middle of it.
  if (is_leaving_) {
    process->patches().expect_all_in();
    process->patches().put_back(process->memory());
    return process;
  }
  introduce_fork(parent, *process, log, now);
  return process;
}

void Guardian::set_breakpoints(TracedProcess& process, pid_t thread, uint64_t start_ticks) {
  process.trap_action().look(process.caller(thread));
  for (const TracedModule& module : process.modules()) set_places(process, thread, module);
  // Those before the first one that has places.
  if (!process.patches().is_empty())
    for (const TracedModule& module : process.modules()) process.make_area(thread, module);
  // In place of an agent's start-up cost.
  process.writer()->channel().head().start_cost_ticks = penna_now() - start_ticks;
}

// The thread has just become another program: nothing of ours is in it.
void Guardian::become_program(TracedThread& thread) {
  const uint64_t now = penna_now();
  const pid_t pid = thread.id;
  std::vector<pid_t> gone;
  // exec ended all other threads; vfork children are separate processes, and live on.
  for (auto& [id, other] : threads_)
    if (id != pid && other.process != nullptr && other.process->pid() == pid && other.on_behalf_of == 0)
      gone.push_back(id);
  for (const pid_t id : gone) thread_is_gone(id);
  if (const auto before = processes_.find(pid); before != processes_.end() && before->second->writer())
    before->second->writer()->close(thread.own_log);
  // A new program has a new channel, and its threads are renumbered.
  thread.own_log = {};
  thread.own_log.tid = static_cast<uint32_t>(pid);
  // A vfork child may have outlived all threads of its process.
  const TracedProcess* const left = thread.on_behalf_of != 0 ? thread.process : nullptr;
  if (left != nullptr && is_last_of_process(thread)) processes_.erase(left->pid());
  thread.on_behalf_of = 0;
  thread.open.clear();
  thread.process = nullptr;
  thread.again = 0;
  processes_.erase(pid);
  // Nothing of ours is in it: it is released at its next stop.
  if (is_leaving_) return;
  auto begun = begin_program(pid, now);
  if (!begun) {
    troubles_.push_back(begun.error().text);
    processes_.erase(pid);
    return;
  }
  thread.process = *begun;
  set_breakpoints(**begun, pid, now);
}

std::string Guardian::await_program(pid_t pid) {
  // Not stopped: it waits for its start, and the exec is reported as an event.
  if (!traced(PTRACE_SEIZE, pid, 0, kTraceOptions))
    return fmt::format("cannot trace the started program: {}; see /proc/sys/kernel/yama/ptrace_scope",
                       errno_text(errno));
  add_thread(pid, nullptr);
  return {};
}

std::string Guardian::attach(pid_t pid) {
  const uint64_t now = penna_now();
  auto memory = RemoteMemory::open(pid);
  if (!memory) return memory.error().text;
  add_thread(pid, nullptr);
  auto begun = begin_program(pid, now);
  if (!begun) return threads_.clear(), processes_.clear(), begun.error().text;
  TracedProcess& process = **begun;
  for (const TracedModule& module : process.modules()) plan_of(process, module);  // slow
  // The slow part (symbols, debug files) was done while the program ran; it is stopped only for as long as it takes to
  // map memory and write the bytes.
  auto stopped = StoppedProcess::stop(pid);
  if (!stopped) return threads_.clear(), processes_.clear(), stopped.error().text;
  process.look_at_modules();
  std::vector<StoppedThread> kept = stopped->keep();
  // They were seized only to be stopped; with these options, none can create another unseen from here on.
  for (const StoppedThread& one : kept) {
    add_thread(one.id, &process);
    traced(PTRACE_SETOPTIONS, one.id, 0, kTraceOptions);
  }
  // All are stopped: no thread can be inside an instruction that a byte is written to.
  set_breakpoints(process, kept.front().id, now);
  for (StoppedThread& one : kept) {
    one.state.undo_stop(one.id);
    go_on(one.id);
  }
  return {};
}

}  // namespace penna

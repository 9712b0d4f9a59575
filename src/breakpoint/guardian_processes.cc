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

bool Guardian::connect_to_recorder(TracedProcess& process, ThreadLog& log, const ChannelOwner& owner) {
  auto channel = ChannelMemory::connect(plan_.socket_path, owner);
  if (!channel) return false;
  process.writer().emplace(std::move(*channel));
  process.announce_modules(log, penna_now());
  return true;
}

const FilePlan& Guardian::plan_of(TracedProcess& process, const TracedModule& module) {
  // Forked processes, and programs started repeatedly, share the results for a file.
  const std::string key = module.path() + '\0' + build_id_text(module.file().build_id());
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  const penna_config& config = process.writer()->config();
  FilePlan& plan = plans_.emplace(key, plan_file(module.file(), module.path(), config, plan_)).first->second;
  troubles_.insert(troubles_.end(), plan.refused.begin(), plan.refused.end());
  return plan;
}

void Guardian::plan_module(TracedProcess& process, pid_t thread, const TracedModule& module) {
  if (!process.writer()) return;
  const FilePlan& plan = plan_of(process, module);
  wants_allocators_ |= process.writer()->records(PENNA_ALLOC);
  if (plan.places.empty()) return;
  // One system call in the program, and only where a breakpoint is wanted.
  const bool has_area = process.make_area(thread, module);
  for (const PlannedPlace& place : plan.places) {
    const char* refusal = has_area ? process.add(module, place) : "has no free memory within reach of a jump";
    if (refusal != nullptr) refused_[place.name] = refusal;
    has_allocator_ |= refusal == nullptr && place.meaning.allocator != AllocatorCall::kNone;
  }
}

Result<TracedProcess*> Guardian::begin_program(pid_t pid, uint64_t start_ticks) {
  auto memory = RemoteMemory::open(pid);
  if (!memory) return memory.error();
  std::unique_ptr<TracedProcess>& process = processes_[pid];
  process = std::make_unique<TracedProcess>(pid, std::move(*memory));
  process->look_at_modules();
  if (process->modules().empty()) return Error{fmt::format("process {} has no program that can be read", pid)};
  ChannelOwner owner;
  owner.pid = pid;
  owner.parent = parent_of(pid);
  owner.start_ticks = start_ticks;
  if (!connect_to_recorder(*process, threads_.at(pid).own_log, owner))
    return Error{fmt::format("could not connect process {} to the recorder", pid)};
  return process.get();
}

// Null: it could not be introduced, and passes its breakpoints unrecorded.
TracedProcess* Guardian::fork_process(TracedThread& parent, pid_t pid, ThreadLog& log, uint64_t now) {
  auto memory = RemoteMemory::open(pid);
  if (!memory) return nullptr;
  std::unique_ptr<TracedProcess>& process = processes_[pid];
  process = std::make_unique<TracedProcess>(pid, std::move(*memory), *parent.process);
  ChannelOwner owner;
  owner.pid = pid;
  owner.parent = parent.process->pid();
  owner.is_program = false;
  owner.forked_by = parent.own_log.serial;
  owner.fork_ticks = owner.start_ticks = now;
  // The bytes were restored in the parent, but its child was copied before that, or in the middle of it.
  if (is_leaving_) {
    process->patches().expect_all_in();
    process->patches().put_back(process->memory());
    return process.get();
  }
  if (parent.process->writer()) parent.process->writer()->close(parent.own_log);  // so that open calls are known
  if (!connect_to_recorder(*process, log, owner)) ++unfollowed_;
  return process.get();
}

void Guardian::set_breakpoints(TracedProcess& process, pid_t thread, uint64_t start_ticks) {
  for (const TracedModule& module : process.modules()) plan_module(process, thread, module);
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

std::vector<std::string> Guardian::notes() const {
  std::vector<std::string> notes = refusal_notes(troubles_, refused_);
  const auto add = [&](uint64_t count, const char* one, const char* many, const char* what) {
    if (count != 0) notes.push_back(fmt::format("{} {}", plural_text(static_cast<int64_t>(count), one, many), what));
  };
  add(unreturned_, "call", "calls",
      "returned to where no breakpoint can be: their ends, and what they allocated, are not recorded");
  add(unfollowed_, "forked process", "forked processes", "could not connect to the recorder, and were not recorded");
  if (wants_allocators_ && !has_allocator_)
    notes.push_back("no allocations are recorded: no symbol malloc was found; is the program stripped?");
  return notes;
}

}  // namespace penna

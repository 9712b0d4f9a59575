// SPDX-License-Identifier: MIT
// See traced_events.h: how a process is introduced to the recorder, and what is reported at the end.
#include <fmt/core.h>

#include "base/count_text.h"
#include "base/proc_stat.h"
#include "breakpoint/traced_events.h"
#include "penna/clock.h"

namespace penna {

bool TracedEvents::connect_to_recorder(TracedProcess& process, ThreadLog& log, const ChannelOwner& owner) {
  auto channel = ChannelMemory::connect(plan_.socket_path, owner);
  if (!channel) return false;
  process.writer().emplace(std::move(*channel));
  process.announce_modules(log, penna_now());
  return true;
}

const FilePlan& TracedEvents::plan_of(TracedProcess& process, const TracedModule& module) {
  // Forked processes, and programs started repeatedly, share the results for a file.
  const std::string key = module.key();
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  const penna_config& config = process.writer()->config();
  FilePlan& plan = plans_.emplace(key, plan_file(module.file(), module.path(), config, plan_)).first->second;
  troubles_.insert(troubles_.end(), plan.refused.begin(), plan.refused.end());
  return plan;
}

Result<TracedProcess*> TracedEvents::begin_program(pid_t pid, uint64_t start_ticks) {
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

TracedProcess* TracedEvents::copy_process(const TracedProcess& parent, pid_t pid) {
  auto memory = RemoteMemory::open(pid);
  if (!memory) return nullptr;
  std::unique_ptr<TracedProcess>& process = processes_[pid];
  process = std::make_unique<TracedProcess>(pid, std::move(*memory), parent);
  return process.get();
}

void TracedEvents::introduce_fork(TracedThread& parent, TracedProcess& child, ThreadLog& log, uint64_t now) {
  ChannelOwner owner;
  owner.pid = child.pid();
  owner.parent = parent.process->pid();
  owner.is_program = false;
  owner.forked_by = parent.own_log.serial;
  owner.fork_ticks = owner.start_ticks = now;
  if (parent.process->writer()) parent.process->writer()->close(parent.own_log);  // so that open calls are known
  if (!connect_to_recorder(child, log, owner)) ++unfollowed_;
}

std::vector<std::string> TracedEvents::notes() const {
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

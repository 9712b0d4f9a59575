// SPDX-License-Identifier: MIT
// See uprobe_watch.h: processes, and their uprobes.
#include "breakpoint/uprobe_watch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/count_text.h"
#include "base/file.h"
#include "base/readable.h"
#include "penna/clock.h"
#include "reach/control/find_recorder.h"
#include "reach/process/stop_thread.h"

namespace penna {
namespace {

// A batch of records is read that often, or as soon as the ring has some of them (uprobe_program_x86_64.cc).
constexpr int kBatchMs = 20;

constexpr char kCannotBeProbed[] = "begins with an instruction that the kernel cannot probe";

std::string name_at(const UprobePlaces& places, uint64_t offset) {
  for (size_t i = 0; i < places.in_file.size(); ++i)
    for (const PlannedPlace& entry : places.entries)
      if (places.in_file[i].offset == offset && places.addresses[i] == entry.address) return entry.name;
  return fmt::format("the code at file offset {:#x}", offset);
}

}  // namespace

// ---- Processes ------------------------------------------------------------------------------------------------------

std::string UprobeWatch::attach(pid_t pid) {
  const TickTimes::Moment earlier = TickTimes::now();
  auto ring = UprobeRing::make();
  if (!ring) return ring.error().text;
  ring_.emplace(std::move(*ring));
  times_.emplace(earlier, TickTimes::now());
  root_ = pid;
  const size_t troubles = troubles_.size();
  const std::string trouble = watch(pid) ? begin(pid) : fmt::format("there is no process {}", pid);
  const bool has_none = trouble.empty() && watched_.at(pid).links.empty() && troubles_.size() > troubles;
  return has_none ? troubles_.back() : trouble;
}

// False: it has ended.
bool UprobeWatch::watch(pid_t pid) {
  Fd ends(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!ends || !ring_->report_processes(pid, true)) return false;
  Watched& watched = watched_[pid];
  watched = {};
  watched.ends = std::move(ends);
  return true;
}

void UprobeWatch::unwatch(pid_t pid) {
  std::vector<pid_t> gone;
  for (const auto& [id, thread] : threads_)
    if (id == pid || (thread.process != nullptr && thread.process->pid() == pid)) gone.push_back(id);
  for (const pid_t id : gone) thread_is_gone(id);
  (void)ring_->report_processes(pid, false);
  watched_.erase(pid);
  processes_.erase(pid);
}

std::string UprobeWatch::begin(pid_t pid) {
  const uint64_t now = penna_now();
  TracedThread& thread = threads_[pid];
  thread.id = pid;
  thread.own_log.tid = static_cast<uint32_t>(pid);
  const auto begun = begin_program(pid, now);
  if (!begun) return begun.error().text;
  thread.process = *begun;
  set_all_places(**begun, now);
  return {};
}

void UprobeWatch::set_all_places(TracedProcess& process, uint64_t began) {
  for (const TracedModule& module : process.modules()) set_places(process, process.pid(), module);
  process.writer()->channel().head().start_cost_ticks = penna_now() - began;
}

const UprobeWatch::WatchedFile& UprobeWatch::file_of(TracedProcess& process, const TracedModule& module) {
  const std::string key = module.key();
  const auto known = files_.find(key);
  if (known != files_.end()) return known->second;
  WatchedFile& file = files_[key];
  file.opened = Fd(::open(module.file().path().c_str(), O_PATH | O_CLOEXEC));
  const bool with_free_stacks = (process.writer()->config().options & PENNA_OPTION_FREE_STACKS) != 0;
  file.places = find_uprobe_places(module.file(), plan_of(process, module), with_free_stacks);
  return file;
}

void UprobeWatch::set_places(TracedProcess& process, pid_t, const TracedModule& module) {
  if (!process.writer()) return;
  const WatchedFile& file = file_of(process, module);
  Watched& watched = watched_.at(process.pid());
  refused_.insert(file.places.refused.begin(), file.places.refused.end());
  wants_allocators_ |= process.writer()->records(PENNA_ALLOC);
  if (file.places.in_file.empty()) return;
  for (const uint64_t at : file.places.addresses)
    if (const auto byte = process.memory().get(RemoteBytes(at + module.bias())))
      watched.before[at + module.bias()] = *byte;
  for (const PlannedPlace& place : file.places.entries) {
    process.expect(place.address + module.bias(), place.meaning);
    has_allocator_ |= place.meaning.allocator != AllocatorCall::kNone;
  }
  for (const uint64_t at : file.places.returns) watched.returns.insert(at + module.bias());
  auto made = ring_->set(process.pid(), fmt::format("/proc/self/fd/{}", file.opened.get()), file.places.in_file);
  if (!made) {
    if (!is_readable(watched.ends.get())) troubles_.push_back(fmt::format("{}: {}", module.path(), made.error().text));
    return;
  }
  if (has_ended(process.pid(), process.pid()) && !is_readable(watched.ends.get()))
    troubles_.push_back(fmt::format("{}: process {} {}", module.path(), process.pid(), kNoFirstThread));
  for (Fd& link : made->links) watched.links.push_back(std::move(link));
  for (const uint64_t offset : made->refused) refused_[name_at(file.places, offset)] = kCannotBeProbed;
}

// Those that `thread` has just forked, and what they have forked meanwhile, unseen.
void UprobeWatch::follow_forks(pid_t parent, pid_t thread, uint64_t now) {
  const auto known = threads_.find(thread);
  TracedThread& from = known != threads_.end() ? known->second : threads_[parent];
  if (from.process == nullptr) return;
  for (const pid_t child : children_of(parent)) {
    if (watched_.count(child) != 0 || !watch(child)) continue;
    ++followed_;
    // Until its exec, it runs in its parent's memory, but its uprobes would be the parent's.
    if (share_memory(parent, child)) continue;
    follow_fork(from, child, now);
  }
}

void UprobeWatch::follow_fork(TracedThread& parent, pid_t pid, uint64_t now) {
  ++late_;
  TracedThread& child = threads_[pid];
  child = {};
  child.id = pid;
  child.own_log.tid = static_cast<uint32_t>(pid);
  child.open = parent.open;
  child.process = copy_process(*parent.process, pid);
  if (child.process == nullptr) return;
  introduce_fork(parent, *child.process, child.own_log, now);
  if (!child.process->writer()) return;
  set_all_places(*child.process, now);
  const auto grandchildren = children_of(pid);
  if (!grandchildren.empty()) forks_ += grandchildren.size(), follow_forks(pid, pid, now);
}

void UprobeWatch::become_program(pid_t pid) {
  unwatch(pid);
  ++late_;
  if (!watch(pid)) return;
  if (std::string trouble = begin(pid); !trouble.empty()) troubles_.push_back(std::move(trouble));
}

void UprobeWatch::thread_is_gone(pid_t id) {
  const auto found = threads_.find(id);
  if (found == threads_.end()) return;
  TracedProcess* const process = found->second.process;
  if (process != nullptr && process->writer()) process->writer()->close(found->second.own_log);
  threads_.erase(found);
}

// ---- Events ---------------------------------------------------------------------------------------------------------

void UprobeWatch::hit(TracedThread& thread, const UprobeRecord& record, uint64_t now) {
  TracedProcess& process = *thread.process;
  const Registers registers = Registers::of_words(record.registers);
  const RemoteMemory::Piece pieces[] = {
      {RemoteBytes(record.stack_at), {record.stack, static_cast<size_t>(record.stack_bytes)}},
      {RemoteBytes(registers.argument(0)), {record.argument, record.argument_bytes}}};
  const uint64_t at = registers.pc(), slot = registers.return_slot();
  if (record.head.kind == UprobeKind::kReturned)
    return leave_functions(thread, registers.left_slot(), at, registers, now);
  const Meaning* const meaning = process.meaning_at(at);
  // The memory map is read as it is now.
  if (meaning != nullptr && meaning->is_loader) return meet(thread, at, registers, now);
  process.show_only(pieces);
  if (meaning != nullptr) meet(thread, at, registers, now);
  if (watched_.at(process.pid()).returns.count(at) != 0)
    leave_functions(thread, slot, process.memory().get_or_zero(RemotePtr<uint64_t>(slot)), registers, now);
  process.show_only({});
}

void UprobeWatch::see(const UprobeRecord& record) {
  const auto pid = static_cast<pid_t>(record.head.process), id = static_cast<pid_t>(record.head.thread);
  const uint64_t now = times_->at(record.head.ns);
  switch (record.head.kind) {
    case UprobeKind::kFork: return ++forks_, follow_forks(pid, id, now);
    case UprobeKind::kExec: return become_program(pid);
    case UprobeKind::kExit:
      // The first thread's end is the end of its process, or of nothing.
      if (id != pid) thread_is_gone(id);
      return;
    case UprobeKind::kReturned:
    case UprobeKind::kHit: break;
  }
  const auto process = processes_.find(pid);
  if (process == processes_.end() || !process->second->writer()) return;
  TracedThread& thread = threads_[id];
  if (thread.process == nullptr) {
    thread.id = id;
    thread.process = process->second.get();
    thread.own_log.tid = record.head.thread;
  }
  // Records of a thread are in order, their times may be out of order by the error of the conversion.
  thread.last = std::max(thread.last, now);
  hit(thread, record, thread.last);
}

void UprobeWatch::read() {
  times_->look(TickTimes::now());
  ring_->read([this](const UprobeRecord& record) { see(record); });
  count_losses();
}

// The lost record may have been the return of a function. So open calls of allocators and locks then count as lost:
// later calls further in would be taken for a part of them.
void UprobeWatch::count_losses() {
  const auto root = processes_.find(root_);
  ChannelWriter* const writer = root != processes_.end() && root->second->writer() ? &*root->second->writer() : nullptr;
  bool any = false;
  const auto count = [&](penna_event_class what, uint64_t lost) {
    losses_[what] += lost;
    if (writer != nullptr) writer->count_lost(what, lost);
  };
  for (size_t i = 0; i < PENNA_CLASS_COUNT; ++i) {
    const auto what = static_cast<penna_event_class>(i);
    const uint64_t lost = ring_->take_lost(what);
    if (lost == 0) continue;
    any = true;
    count(what, lost);
  }
  if (!any) return;
  for (auto& [id, thread] : threads_)
    std::erase_if(thread.open, [&](const EnteredCall& call) {
      if (call.meaning.is_call) return false;
      count(call.meaning.lock != LockCall::kNone ? PENNA_LOCKS : PENNA_ALLOC, 1);
      return true;
    });
}

void UprobeWatch::work(int socket) {
  ::prctl(PR_SET_NAME, kUprobeReader);
  for (;;) {
    std::vector<pollfd> ready{{socket, POLLIN, 0}};
    if (ring_) ready.push_back({ring_->fd(), POLLIN, 0});
    std::vector<pid_t> pids;
    for (const auto& [pid, watched] : watched_) {
      ready.push_back({watched.ends.get(), POLLIN, 0});
      pids.push_back(pid);
    }
    (void)::poll(ready.data(), ready.size(), watched_.empty() ? -1 : kBatchMs);
    if (ring_) read();
    if (ready[0].revents != 0) return;
    for (size_t i = 0; i < pids.size(); ++i)
      if (ready[i + 2].revents != 0) unwatch(pids[i]);
  }
}

// ---- Leaving --------------------------------------------------------------------------------------------------------

// What the kernel has restored, by what is there now: what was there when we came, or what its file has. When we came,
// the kernel may not have removed the uprobes of a recorder that had just been killed.
void UprobeWatch::check_bytes(LeftPlaces* left) {
  for (const auto& [pid, watched] : watched_) {
    const auto process = processes_.find(pid);
    if (process == processes_.end()) continue;
    std::set<uint64_t> modules;
    for (const auto& [at, before] : watched.before) {
      const auto now = process->second->memory().get(RemoteBytes(at));
      if (!now) continue;
      bool is_restored = *now == before;
      for (const TracedModule& module : process->second->modules()) {
        if (!module.contains(at)) continue;
        modules.insert(module.start());
        const std::span<const uint8_t> in_file = module.file().bytes_at(at - module.bias(), 1);
        is_restored |= !in_file.empty() && *now == in_file[0];
      }
      (is_restored ? left->places : left->kept) += 1;
    }
    left->modules = std::max<uint64_t>(left->modules, modules.size());
  }
}

LeftPlaces UprobeWatch::leave() {
  LeftPlaces left;
  for (auto& [pid, watched] : watched_) watched.links.clear();  // returns when no thread is in one of them any more
  if (ring_) read();
  for (auto& [id, thread] : threads_)
    if (thread.process != nullptr && thread.process->writer()) thread.process->writer()->close(thread.own_log);
  check_bytes(&left);
  left.notes = notes();
  const auto add = [&](uint64_t count, const char* one, const char* many, const std::string& what) {
    if (count != 0)
      left.notes.push_back(fmt::format("{} {}", plural_text(static_cast<int64_t>(count), one, many), what));
  };
  uint64_t lost = 0;
  for (const uint64_t one : losses_) lost += one;
  add(lost, "event was", "events were", "lost: they came faster than they were read; name fewer functions");
  add(late_, "child or new program", "children and new programs",
      "got uprobes a moment after the start; what happened there before is not recorded");
  add(forks_ - std::min(forks_, followed_), "child was", "children were",
      "not recorded: the process, or its parent, ended before its uprobes were set");
  return left;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See rehearsal.h.
#include "reach/inject/rehearsal.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "base/memory_ranges.h"
#include "penna/detail/attach.h"
#include "reach/inject/guest_thread.h"
#include "reach/inject/inject.h"
#include "reach/inject/journal.h"
#include "reach/inject/process_copy.h"
#include "reach/inject/residue.h"
#include "reach/inject/target.h"
#include "reach/process/stop_thread.h"

namespace penna {
namespace {

struct Mapped {
  uint64_t count = 0, bytes = 0;
};
Mapped mapped_by(pid_t pid) {
  Mapped all;
  for (const MemoryRange& range : memory_ranges(pid)) ++all.count, all.bytes += range.end - range.start;
  return all;
}

// Sorted by address. If the agent has planned two changes of a place, they count as one.
class Changes {
 public:
  void add(uint64_t address, PlannedChange::Kind kind, std::string before, std::string after) {
    const auto [at, is_new] = changes_.try_emplace(address, PlannedChange{address, kind, std::move(before), after});
    if (!is_new && at->second.after.size() == after.size()) at->second.after = std::move(after);
  }
  // The process's current contents count as "before": a pointer may have been bound since the copy was made.
  std::vector<PlannedChange> take(const RemoteMemory& process) {
    std::vector<PlannedChange> list;
    for (auto& [address, one] : changes_) {
      if (const std::string now = process.part(RemoteBytes(address), one.before.size());
          now.size() == one.before.size())
        one.before = now;
      if (one.before != one.after) list.push_back(std::move(one));
    }
    return list;
  }

 private:
  std::map<uint64_t, PlannedChange> changes_;
};

std::string bytes_of(const uint8_t* bytes, size_t count) { return {reinterpret_cast<const char*>(bytes), count}; }

// The error is text to follow "process N ".
Result<std::vector<PlannedChange>> changes_of(const Target& process, pid_t copy) {
  const auto there = examine(copy);
  if (!there) return Error{"could not be copied: the copy has ended"};
  const auto residue = find_residue(*there);
  const auto planned = residue ? Journal(copy, residue->attachment, {}, {}).planned() : Error{"has no agent"};
  if (!planned) return Error{"could not be copied: the copy did not start"};
  Changes changes;
  for (const penna_change& one : *planned) {
    const bool is_code = one.kind == PENNA_CHANGED_CODE;
    changes.add(one.address, is_code ? PlannedChange::Kind::kCode : PlannedChange::Kind::kPointer,
                bytes_of(one.before, one.bytes), bytes_of(one.after, one.bytes));
    if (one.is_marked != 0)
      changes.add(one.address - one.in_module + PENNA_MODULE_MARK_AT, PlannedChange::Kind::kMark, std::string(1, '\0'),
                  std::string(1, static_cast<char>(PENNA_MODULE_MARK)));
  }
  // Made by the recorder itself (say_not_single_threaded()).
  for (const RemotePtr<uint8_t> at : process.needs.single_threaded)
    if (at) changes.add(at.number(), PlannedChange::Kind::kFlag, std::string(1, '\1'), std::string(1, '\0'));
  return changes.take(process.memory);
}

// In one copy. The error is text to follow "process N "; *again: another copy may succeed. `locks`: what earlier copies
// have waited for in vain.
Result<Rehearsed> rehearse_once(const Target& process, const RehearsalStage& stage,
                                std::vector<RemotePtr<uint32_t>>* locks, bool* again) {
  constexpr std::chrono::milliseconds kLockPatience(300);
  ProcessCopy::Trouble why{};
  auto made = ProcessCopy::make(process.pid, *locks, &why);
  if (!made) {
    *again = why == ProcessCopy::Trouble::kLocked || (why == ProcessCopy::Trouble::kEnded && !has_ended(process.pid));
    return made.error();
  }
  ProcessCopy& copy = *made;
  // Another thread may have been in the middle of dlopen: in the copy, it never leaves it.
  const auto memory = RemoteMemory::open(copy.pid());
  *again = memory && !process.standalone && !list_libraries(copy.pid(), *memory);
  if (*again) {
    PENNA_TRY(copy.end());
    return Error{"could not be copied: it is always loading libraries"};
  }
  const Mapped before = mapped_by(copy.pid());
  stage.invite(copy.pid());
  auto inject = PENNA_TRY(Inject::prepare({copy.pid()}, stage.agent, stage.socket_path, InjectUntil::kPlanned));
  // A copy has only one of the process's threads, and a lock that another thread held is never released.
  LockWatch watch(copy.pid());
  bool is_stuck = false;
  inject->serve_by([&](int also) {
    stage.serve(also);
    if (is_stuck || watch.waited() < kLockPatience) return;
    is_stuck = true;
    ::kill(copy.pid(), SIGKILL);
  });
  CarrierError trouble;
  if (!inject->start(&trouble)) {
    const std::string who = fmt::format("process {} ", copy.pid());
    // Or residue of an earlier recording had to be removed first, and a thread was in the middle of it, or in the
    // dynamic linker: in the copy, no thread leaves there.
    *again = is_stuck || has_ended(copy.pid()) || trouble.text.find(Journal::kIsAlways) != std::string::npos;
    PENNA_TRY(copy.end());
    if (is_stuck) {
      locks->push_back(watch.lock());
      return Error{ProcessCopy::kLockedText};
    }
    if (*again) return Error{"could not be copied: the copy has ended"};
    return Error{trouble.text.starts_with(who) ? trouble.text.substr(who.size())
                                               : "could not be tried in a copy: " + trouble.text};
  }
  auto changes = changes_of(process, copy.pid());
  const Mapped after = mapped_by(copy.pid());
  inject.reset();
  PENNA_TRY(copy.end());
  if (!changes) return changes.error();
  return Rehearsed{std::move(*changes), after.count - std::min(before.count, after.count),
                   after.bytes - std::min(before.bytes, after.bytes)};
}

}  // namespace

Result<Rehearsed> rehearse(pid_t pid, const RehearsalStage& stage) {
  // By time: on a busy machine, a thread that holds a lock may hold it in one copy after the other.
  constexpr std::chrono::milliseconds kLongest(10000), kBetween(20);
  const auto start = std::chrono::steady_clock::now();
  const auto sentence = [pid](const Error& error) { return Error{fmt::format("process {} {}", pid, error.text)}; };
  const auto process = examine(pid);
  if (!process) return sentence(process.error());
  std::vector<RemotePtr<uint32_t>> locks;
  for (;; std::this_thread::sleep_for(kBetween)) {
    bool again = false;
    auto rehearsed = rehearse_once(*process, stage, &locks, &again);
    if (rehearsed) return rehearsed;
    if (!again) return sentence(rehearsed.error());
    if (std::chrono::steady_clock::now() - start > kLongest)
      return sentence(Error{rehearsed.error().text + ": try again when it does less"});
  }
}

}  // namespace penna

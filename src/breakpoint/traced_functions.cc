// SPDX-License-Identifier: MIT
// See traced_functions.h.
#include "breakpoint/traced_functions.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "base/count_text.h"
#include "plan/allocator_functions.h"
#include "plan/walked_code.h"
#include "symbols/symbol_file.h"

namespace penna {
namespace {

struct Allocator {
  const char* name;
  AllocatorCall call;
};
// One list for glibc and musl of any version: names that a file does not define are skipped.
constexpr Allocator kAllocators[] = {
    {"malloc", AllocatorCall::kMalloc},
    {"calloc", AllocatorCall::kCalloc},
    {"realloc", AllocatorCall::kRealloc},
    {"reallocarray", AllocatorCall::kReallocArray},
    {"aligned_alloc", AllocatorCall::kAligned},
    {"memalign", AllocatorCall::kAligned},
    {"posix_memalign", AllocatorCall::kPosixMemalign},
    {"free", AllocatorCall::kFree},
};

struct Lock {
  const char* name;
  LockCall call;
  penna_sync sync;
};
constexpr Lock kLocks[] = {
    {"pthread_mutex_init", LockCall::kMake, PENNA_SYNC_MUTEX},
    {"pthread_mutex_destroy", LockCall::kEnd, PENNA_SYNC_MUTEX},
    {"pthread_mutex_lock", LockCall::kTake, PENNA_SYNC_MUTEX},
    {"pthread_mutex_timedlock", LockCall::kTake, PENNA_SYNC_MUTEX},
    {"pthread_mutex_clocklock", LockCall::kTake, PENNA_SYNC_MUTEX},
    {"pthread_mutex_trylock", LockCall::kTry, PENNA_SYNC_MUTEX},
    {"pthread_mutex_unlock", LockCall::kGive, PENNA_SYNC_MUTEX},
    {"pthread_rwlock_init", LockCall::kMake, PENNA_SYNC_WRITE},
    {"pthread_rwlock_destroy", LockCall::kEnd, PENNA_SYNC_WRITE},
    {"pthread_rwlock_rdlock", LockCall::kTake, PENNA_SYNC_READ},
    {"pthread_rwlock_timedrdlock", LockCall::kTake, PENNA_SYNC_READ},
    {"pthread_rwlock_tryrdlock", LockCall::kTry, PENNA_SYNC_READ},
    {"pthread_rwlock_wrlock", LockCall::kTake, PENNA_SYNC_WRITE},
    {"pthread_rwlock_timedwrlock", LockCall::kTake, PENNA_SYNC_WRITE},
    {"pthread_rwlock_trywrlock", LockCall::kTry, PENNA_SYNC_WRITE},
    {"pthread_rwlock_unlock", LockCall::kGive, PENNA_SYNC_WRITE},
    {"pthread_spin_lock", LockCall::kTake, PENNA_SYNC_SPIN},
    {"pthread_spin_trylock", LockCall::kTry, PENNA_SYNC_SPIN},
    {"pthread_spin_unlock", LockCall::kGive, PENNA_SYNC_SPIN},
    {"pthread_cond_wait", LockCall::kWaitOn, PENNA_SYNC_CONDITION},
    {"pthread_cond_timedwait", LockCall::kWaitOn, PENNA_SYNC_CONDITION},
    {"pthread_cond_clockwait", LockCall::kWaitOn, PENNA_SYNC_CONDITION},
    {"pthread_cond_signal", LockCall::kWakeOne, PENNA_SYNC_CONDITION},
    {"pthread_cond_broadcast", LockCall::kWakeAll, PENNA_SYNC_CONDITION},
};

struct Jump {
  const char* name;
  JumpCall call;
};
constexpr Jump kJumps[] = {
    {"setjmp", JumpCall::kSave},         {"_setjmp", JumpCall::kSave},     {"sigsetjmp", JumpCall::kSave},
    {"__sigsetjmp", JumpCall::kSave},    {"longjmp", JumpCall::kGo},       {"_longjmp", JumpCall::kGo},
    {"siglongjmp", JumpCall::kGo},       {"__longjmp_chk", JumpCall::kGo}, {"__cxa_begin_catch", JumpCall::kLand},
    {"_Unwind_Resume", JumpCall::kLand},
};

// Where musl and glibc stop for debuggers when modules are loaded or unloaded.
constexpr const char kLoaderStop[] = "_dl_debug_state";

// Functions that do not end by a return, or that the kernel enters.
bool is_entered_otherwise(std::string_view raw) {
  for (const std::string_view name : {"_start", "_init", "_fini", "__restore_rt", "__clone", "clone", "__clone3"})
    if (raw == name) return true;
  return false;
}

class PlacePlanner {
 public:
  PlacePlanner(const ElfFile& file, const penna_config& config) : file_(file), config_(config) {}

  void add_named(bool calls_are_wanted) {
    // Always: without it, libraries loaded later would have no breakpoints.
    std::set<std::string> names{kLoaderStop};
    if (records(PENNA_ALLOC))
      for (const Allocator& one : kAllocators) names.insert(one.name);
    if (records(PENNA_LOCKS))
      for (const Lock& one : kLocks) names.insert(one.name);
    if (records(PENNA_CALLS) && calls_are_wanted)
      for (const Jump& one : kJumps) names.insert(one.name);
    const AllocatorFunctions found = find_named(file_, names);
    const auto start_of = [&](const char* name) {
      const auto at = found.find(name);
      return at == found.end() ? 0 : at->second.start;
    };
    for (const Allocator& one : kAllocators)
      if (const uint64_t start = start_of(one.name)) place(start, one.name).meaning.allocator = one.call;
    for (const Lock& one : kLocks) {
      if (const uint64_t start = start_of(one.name)) {
        Meaning& meaning = place(start, one.name).meaning;
        // Two names may have one body: the first in the list counts.
        if (meaning.lock == LockCall::kNone) meaning.lock = one.call, meaning.sync = one.sync;
        meaning.is_of_musl = file_.section(".note.ABI-tag") == nullptr;  // files linked with glibc have it
      }
    }
    for (const Jump& one : kJumps)
      if (const uint64_t start = start_of(one.name)) place(start, one.name).meaning.jump = one.call;
    if (const uint64_t start = start_of(kLoaderStop)) place(start, kLoaderStop).meaning.is_loader = true;
  }

  void add_wanted(const std::string& path, const GuardianPlan& plan) {
    auto names = SymbolFile::open({path, file_.build_id()}, {});
    // By the path that the process has, for which there may be debug files; else by the path that was opened.
    if (!names) names = SymbolFile::open({file_.path(), file_.build_id()}, {});
    if (!names) return;
    // Go moves its stacks, so a return would be awaited at a slot that no longer exists. We refuse whatever an agent
    // refuses.
    const WalkedCode walked(file_);
    size_t left = 0;
    std::string first;
    for (const Symbol& symbol : (*names)->functions()) {
      const bool is_function = symbol.kind == SymbolKind::kFunction && symbol.raw.find(".cold") == symbol.raw.npos;
      if (!is_function || is_entered_otherwise(symbol.raw)) continue;
      std::vector<std::string> all = (*names)->names(symbol.start);
      if (all.empty()) all.emplace_back(symbol.name);
      bool is_wanted = false;
      for (const std::string& name : all) {
        is_wanted |= plan.wanted && plan.wanted(name, path);
        is_wanted |= plan.also && plan.also(name, path);
      }
      if (!is_wanted) continue;
      if (const char* reason = walked.refusal(symbol.start)) {
        if (left++ == 0) first = fmt::format("calls of {} [{}] are not recorded: it {}", all.front(), path, reason);
      } else {
        place(symbol.start, all.front()).meaning.is_call = true;
      }
    }
    // One sentence per file: a Go program has tens of thousands of functions.
    if (left > 1) first += fmt::format("; and {} more", count_text(static_cast<int64_t>(left - 1)));
    if (left != 0) refused_.push_back(first);
  }

  void add_points() {
    FilePoints found = find_traced_points(file_, config_);
    for (TracedPoint& point : found.points) {
      PlannedPlace& at = place(point.address, point.provider + ":" + point.name);
      at.meaning.point = std::make_shared<const TracedPoint>(std::move(point));
    }
    refused_.insert(refused_.end(), found.refused.begin(), found.refused.end());
  }

  FilePlan take() {
    FilePlan plan;
    plan.refused = std::move(refused_);
    for (auto& [address, place] : places_) plan.places.push_back(std::move(place));
    return plan;
  }

  bool records(penna_event_class what) const { return (config_.classes & (1u << what)) != 0; }

 private:
  // One breakpoint may mean several things: malloc, whose calls are wanted too.
  PlannedPlace& place(uint64_t address, const std::string& name) {
    PlannedPlace& place = places_[address];
    place.address = address;
    if (place.name.empty()) place.name = name;
    return place;
  }
  const ElfFile& file_;
  const penna_config& config_;
  std::map<uint64_t, PlannedPlace> places_;
  std::vector<std::string> refused_;
};

}  // namespace

std::vector<std::string> refusal_notes(std::vector<std::string> troubles,
                                       const std::map<std::string, std::string>& refused) {
  for (const auto& [name, reason] : refused) troubles.push_back(fmt::format("{} is not recorded: it {}", name, reason));
  constexpr size_t kMost = 8;
  if (troubles.size() <= kMost) return troubles;
  // A filter may name thousands of functions: the first few show what kind of trouble it is.
  const auto more = static_cast<int64_t>(troubles.size() - kMost);
  troubles.resize(kMost);
  troubles.push_back(plural_text(more, "more function", "more functions") + " cannot be given a breakpoint");
  return troubles;
}

FilePlan plan_file(const ElfFile& file, const std::string& path, const penna_config& config, const GuardianPlan& plan) {
  PlacePlanner planner(file, config);
  const bool calls_are_wanted = plan.wanted || plan.also;
  planner.add_named(calls_are_wanted);
  if (calls_are_wanted && planner.records(PENNA_CALLS)) planner.add_wanted(path, plan);
  if (planner.records(PENNA_POINTS)) planner.add_points();
  return planner.take();
}

}  // namespace penna

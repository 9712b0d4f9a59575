// SPDX-License-Identifier: MIT
// Which functions and points of a file get a breakpoint, and what it means.
//
// Invariant: addresses are the file's; only the file is examined.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "breakpoint/guardian_plan.h"
#include "breakpoint/traced_points.h"
#include "penna/event.h"
#include "symbols/elf/elf_file.h"

namespace penna {

// What a C allocator function does.
enum class AllocatorCall : uint8_t {
  kNone,
  kMalloc,
  kCalloc,
  kRealloc,
  kReallocArray,
  kAligned,
  kPosixMemalign,
  kFree
};

// What a function of pthread.h does with its lock, the first argument.
enum class LockCall : uint8_t {
  kNone,
  kTake,
  kTry,
  kGive,
  kMake,
  kEnd,
  kWaitOn,
  kWakeOne,
  kWakeAll  // kWaitOn: the second argument is the mutex
};

// Where functions are left without a return.
enum class JumpCall : uint8_t {
  kNone,
  kSave,  // setjmp: the first argument now refers to this place
  kGo,    // longjmp: continues there
  kLand   // an exception has reached the calling function
};

struct Meaning {
  bool is_call = false;  // record entry and return
  AllocatorCall allocator = AllocatorCall::kNone;
  LockCall lock = LockCall::kNone;
  penna_sync sync = PENNA_SYNC_MUTEX;
  JumpCall jump = JumpCall::kNone;
  bool is_of_musl = false;  // the lock has musl's layout, else glibc's
  // Shared by all processes that map the file, and by open calls.
  std::shared_ptr<const TracedPoint> point;  // null: none
  bool is_loader = false;                    // the dynamic linker stops here for debuggers when modules come or go
};

struct PlannedPlace {
  uint64_t address = 0;
  Meaning meaning;
  std::string name;
};

struct FilePlan {
  std::vector<PlannedPlace> places;  // one per address
  std::vector<std::string> refused;  // points, as sentences
};

// The first few notes to report: `troubles` are sentences; `refused` has functions and points that cannot have a
// breakpoint, by name, with the reason.
std::vector<std::string> refusal_notes(std::vector<std::string> troubles,
                                       const std::map<std::string, std::string>& refused);

FilePlan plan_file(const ElfFile& file, const std::string& path, const penna_config& config, const GuardianPlan& plan);

}  // namespace penna

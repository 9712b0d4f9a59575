// SPDX-License-Identifier: MIT
// Which functions and points of a file get a breakpoint, and what it means there.
//
// Invariant: addresses are those of the file; nothing is looked at but the file.
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

// What a function of C's allocator does.
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
  kSave,  // setjmp: the first argument now means this place
  kGo,    // longjmp: continues there
  kLand   // an exception has come to the calling function
};

struct Meaning {
  bool is_call = false;  // entry and return are recorded
  AllocatorCall allocator = AllocatorCall::kNone;
  LockCall lock = LockCall::kNone;
  penna_sync sync = PENNA_SYNC_MUTEX;
  JumpCall jump = JumpCall::kNone;
  bool is_of_musl = false;  // the lock lies in memory as musl has it, else as glibc has it
  // Shared by all processes that map the file, and by calls that are open.
  std::shared_ptr<const TracedPoint> point;  // null: none
  bool is_loader = false;                    // the dynamic linker tells debuggers here that modules came or went
};

struct PlannedPlace {
  uint64_t address = 0;
  Meaning meaning;
  std::string name;
};

struct FilePlan {
  std::vector<PlannedPlace> places;  // one an address
  std::vector<std::string> refused;  // points, in sentences
};

// What to say of it, the first few: `troubles` are sentences; of functions and points that can have no breakpoint, by
// name, why.
std::vector<std::string> refusal_notes(std::vector<std::string> troubles,
                                       const std::map<std::string, std::string>& refused);

FilePlan plan_file(const ElfFile& file, const std::string& path, const penna_config& config, const GuardianPlan& plan);

}  // namespace penna

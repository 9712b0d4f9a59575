// SPDX-License-Identifier: MIT
// PatchPlanner: answers a target's question which places of its modules, or of one function, are to lead to the hooks
// (penna/patch_plan.h).
//
// Usage: one per recording; answer() for each question, of any process. What was read of a file is kept for the next
// process.
// Invariant: a module whose file is not the one that is mapped (by build-id) gets no patches; questions are untrusted.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "penna/patch_plan.h"
#include "plan/allocator_functions.h"
#include "plan/call_sites.h"
#include "plan/lock_functions.h"
#include "plan/probe_stub.h"
#include "plan/value_planner.h"
#include "symbols/elf/elf_file.h"
#include "symbols/points/sdt_notes.h"

namespace penna {

struct PatchRequests {
  // Whether calls of a function are to be recorded, prepared by its compiler or not; empty: of all that are prepared.
  // `name`: demangled; `file`: the module's path.
  std::function<bool(const std::string& name, const std::string& file)> wanted;
  bool libcalls = false;  // calls from one module into another, prepared or not
  // The agent attaches to running processes: it patches libc's functions for its own hooks before it patches any for
  // calls.
  bool attaches = false;
  // Further functions, whatever `wanted` says; empty: none.
  std::function<bool(const std::string& name, const std::string& file)> also;
  ValueRequests values;            // arguments and results; empty: none
  std::vector<OwnLock> own_locks;  // besides those that are known
  // The probes of a file that are wanted, of those that other headers have made; empty: none.
  std::function<std::vector<SdtNote>(const ElfFile& file)> probes;
};

// A function that was requested and cannot be entered, or whose values are not available; or an allocator, or a lock,
// that it belongs to; or a whole file (no name).
struct RefusedFunction {
  std::string name, file, reason;
  enum What : uint8_t {
    kCalls,
    kValues,
    kAllocator,
    kAllocatorFunction,
    kAllocatorUnknown,  // whether the file has one
    kLock,
    kFile,
    kProbe,
    kProbeArgument,
    kLibc  // as the next, by the agent's own hook
  } what = kCalls;
  std::string lock = {};  // kLock
  bool half = false;      // kAllocator: blocks of it are recorded by other functions, so some seem never freed
};

// A function that takes a lock and has no known try function.
struct TimedLock {
  std::string name, file;
};

// Reported last: most functions of the dynamic linker are copies of libc's.
inline constexpr char kOfLinker[] = "belongs to the dynamic linker";
// Reasons that are the agent's (penna_unless).
inline constexpr char kMayRun[] = "may be running in other threads when it is found";
inline constexpr char kStackIsRead[] =
    "the runtime of its sanitizer would print Penna's return trampolines in place of callers (build with "
    "-finstrument-functions to record calls)";
inline constexpr char kTooManyAllocators[] = "belongs to a fifth allocator; four are supported";

struct PatchPlan;  // in the making
class PlanAnswer;  // its part for one question
class FileToEnter;

class PatchPlanner {
 public:
  explicit PatchPlanner(PatchRequests requests);
  ~PatchPlanner();
  PatchPlanner(const PatchPlanner&) = delete;
  PatchPlanner& operator=(const PatchPlanner&) = delete;

  // The bytes of a penna_patch_plan. `root`: where the process's files are seen from here ("/proc/PID/root").
  std::vector<uint8_t> answer(std::span<const penna_patch_question> questions, const std::string& root);

  // For questions to come about single functions of this file: they are answered sooner then. `root`: as above.
  void read_ahead(const std::string& path, const std::string& root);

  const std::vector<RefusedFunction>& refused() const { return refused_; }
  const std::vector<TimedLock>& timed_locks() const { return timed_locks_; }
  // Those of requests.own_locks of which no file had a function. Meaningful only if questions about locks were asked.
  // Reads all these files again, to find the nearest name.
  struct UnmetLock {
    std::string text;  // as typed
    std::string near;  // a function that is called nearly like the one that takes it; empty: none
  };
  std::vector<UnmetLock> unmet_locks() const;
  bool was_asked_about_locks() const { return asked_about_locks_; }
  bool wants_probes() const { return static_cast<bool>(requests_.probes); }

 private:
  struct Module;
  struct Pointers;
  std::optional<ElfFile> open_file(const penna_patch_question& question, const std::string& root);
  bool has_changed(const ElfFile& file, const std::string& path);
  void refuse_file(const std::string& path, std::string reason);
  Module& module_of(const penna_patch_question& question, const std::string& root);
  void refuse_module(PatchPlan* plan, const penna_patch_question& question, const std::string& root);
  Pointers* pointers_of(const penna_patch_question& question, const std::string& root);
  size_t add_calls(PatchPlan* plan, const penna_patch_question& question, const std::string& root);
  void note_entered(const std::string& root, const std::optional<penna_patch>& patch);
  void add_pointer(PatchPlan* plan, const penna_patch_question& question, const std::string& root);
  size_t add_allocator(PatchPlan* plan, std::span<const penna_patch_question> questions, const std::string& root);
  std::shared_ptr<FileToEnter> file_to_enter(const penna_patch_question& question, const std::string& root);
  void keep(const penna_patch_question& question, const std::shared_ptr<FileToEnter>& file);
  size_t add_functions(PatchPlan* plan, std::span<const penna_patch_question> questions, const std::string& root);
  const AllocatorFunctions& allocator_of(const penna_patch_question& question, const std::set<std::string>& names,
                                         const std::string& root);
  void refuse_allocator(const std::string& path, const std::string& function, const char* reason,
                        RefusedFunction::What what, bool half);
  void add_locks(PatchPlan* plan, const penna_patch_question& question, const std::string& root, uint32_t* used);
  void add_probes(PatchPlan* plan, const penna_patch_question& question, const std::string& root);
  const std::vector<PlannedProbe>& probes_of(const penna_patch_question& question, const std::string& root);
  const LockFunctions& locks_of(const penna_patch_question& question, const std::string& root);
  std::vector<PreparedBeginning> beginnings_of(const ElfFile& file, const penna_patch_question& question,
                                               const std::string& root);
  void refuse_locks(const std::string& path, const LockFunctions& locks, const char* reason);
  void note_timed_locks(const std::string& path, const LockFunctions& locks);
  static const char* enter(const Pointers& pointers, uint64_t start, const penna_patch_question& question,
                           PlanAnswer* answer);
  void read_module(const ElfFile& file, const std::string& path, Module* module);
  void learn_exports(const penna_patch_question& question, const std::string& root);
  std::optional<std::string> asked_for(const std::vector<std::string>& names, const std::string& path) const;
  void choose_functions(const ElfFile& file, const std::string& path, const std::vector<CallSite>& prepared,
                        Module* module);

  PatchRequests requests_;
  std::map<std::string, std::unique_ptr<Module>> modules_;  // by path and build-id
  // By build-id alone: maps and the dynamic linker may know a file by two paths.
  std::map<BuildId, std::shared_ptr<FileToEnter>> files_to_enter_;
  std::vector<RefusedFunction> refused_;
  std::map<std::string, AllocatorFunctions> allocators_;  // by path and build-id
  std::set<std::pair<std::string, uint64_t>> entered_;    // by root: places that lead to their own hooks
  std::set<std::string> refused_pointers_;                // named once, however many processes ask
  std::map<std::string, LockFunctions> locks_;            // by path and build-id
  std::map<std::string, std::optional<std::vector<PlannedProbe>>> probes_;  // the same
  std::set<std::string> known_exports_;                                     // files, by path and build-id
  std::map<std::string, std::set<std::string>> exported_names_;  // by one name of a function: all its other names
  std::vector<TimedLock> timed_locks_;
  std::set<std::string> noted_locks_;  // their files
  std::set<size_t> met_locks_;         // of requests_.own_locks
  bool asked_about_locks_ = false;
};

}  // namespace penna

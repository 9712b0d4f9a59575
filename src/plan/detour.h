// SPDX-License-Identifier: MIT
// Detours: functions that no compiler has prepared are entered through a stub, which calls the hook, runs the
// instructions that the jump to it has overwritten, and continues after them.
//
// Anything doubtful is refused, with its reason: a branch, a switch or another symbol may lead into the overwritten
// bytes; they may be too few, or contain something that means something else elsewhere.
// Invariant: a function that is offered may be entered at its first instruction only, as far as its file shows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/arch.h"
#include "plan/code_marks.h"
#include "plan/near_memory.h"
#include "plan/walked_code.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/unwind_table.h"

namespace penna {

struct FunctionRange {
  uint64_t start = 0, end = 0;  // ELF virtual addresses
};

struct DetourSite {
  uint64_t function = 0;
  uint64_t place = 0;         // where the jump goes: after a kEntryMark
  std::vector<uint8_t> code;  // whole instructions from there, at least kBranchBytes
};

struct DetourOffer {
  std::optional<DetourSite> site;
  const char* refusal = nullptr;  // when there is none: "is shorter than a jump"
};

// A probe of another header (sys/sdt.h): a nop, on which debuggers and the kernel put their breakpoints. So the nop
// stays, and the jump replaces the instructions after it, or those before it.
struct ProbeSite {
  uint64_t nop = 0;
  uint64_t place = 0;         // where the jump goes: nop + 1, or before the nop
  std::vector<uint8_t> code;  // whole instructions from there; those before the nop end at it
  bool is_behind() const { return place > nop; }
};

struct ProbeOffer {
  std::optional<ProbeSite> site;
  const char* refusal = nullptr;  // when there is none: "has another probe next to it"
};

// Examines functions of one file; what concerns all of its code is determined once.
class DetourFinder {
 public:
  // `functions`: all that are known, by start.
  DetourFinder(const ElfFile& file, std::vector<FunctionRange> functions);
  // For the given functions: each call searches all code for branches into them, so pass all at once.
  std::vector<DetourOffer> find(std::span<const FunctionRange> wanted) const;
  // For the functions that begin there, which must be known.
  std::vector<DetourOffer> find_at(std::span<const uint64_t> starts) const;
  DetourOffer find_at(uint64_t start) const { return find_at({&start, 1})[0]; }
  // Searches the code now, and not when it is first asked.
  void read_ahead() const { seeming_targets(); }
  // For probes, by the addresses of their nops; `all`: of all probes that the file has.
  std::vector<ProbeOffer> find_probes(std::span<const uint64_t> wanted, std::span<const uint64_t> all) const;

 private:
  void follow_jumps_of_called();
  DetourOffer look_at(const FunctionRange& function) const;
  using Functions = std::vector<FunctionRange>;
  Functions::const_iterator first_behind(uint64_t address) const;
  bool starts_inside(uint64_t from, uint64_t to) const;
  FunctionRange gap_over(uint64_t address) const;
  FunctionRange function_over(uint64_t address) const;
  bool neighbours_branch_into(const FunctionRange& function, uint64_t begin, uint64_t end) const;
  template <typename Visit>
  void for_each_seeming_branch(Visit&& visit) const;
  const CodeMarks& seeming_targets() const;
  bool is_inside_instruction(uint64_t address) const;
  CodeMarks branched_to(const CodeMarks& places) const;
  void refuse_branched_into(std::span<DetourOffer> offers) const;
  bool is_branched_into(uint64_t begin, uint64_t end) const;
  const ElfFile& file_;
  UnwindTable unwind_table_;
  WalkedCode walked_;
  Functions functions_;
  // Caches of const functions, without a lock: a finder belongs to one thread at a time.
  mutable FunctionRange last_gap_;
  mutable bool last_gap_is_code_ = false;
  mutable std::optional<CodeMarks> targets_;  // of all that looks like a direct branch
};

// Appends `code`, which stands at `from`, to near memory, where it does the same. False: what it refers to is out of
// reach from there. There must be room: kLargestMoved bytes for each byte of `code`.
bool append_moved_code(std::span<const uint8_t> code, CodePtr from, NearMemory* near);

// Writes the code at the site to near memory, followed by a jump back: code that does what the function does. Returns
// its address; nothing: as below.
std::optional<CodePtr> move_beginning(const DetourSite& site, uint64_t bias, NearMemory* near);

// Writes the site's stub to near memory and returns the patch's jump to it. `bias`: run-time address - address in the
// file. Nothing: no room, or what the code refers to is out of reach from there.
std::optional<std::array<uint8_t, kBranchBytes>> write_detour(const DetourSite& site, uint64_t bias, NearMemory* near);

}  // namespace penna

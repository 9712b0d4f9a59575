// SPDX-License-Identifier: MIT
// CodePatches: the breakpoints in one address space, and copies of the instructions that they overwrite.
//
// Why copies: if the byte were restored for one thread to step over it, other threads would pass unseen.
// Addresses are numbers here: they are compared with program counters, and written to in few places.
// Invariant: a byte is written only at the start of an instruction that can be skipped or emulated (plan/displaced.h),
// and the original byte is known. A thread in a copy is at its first byte or at the jump after it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/displaced.h"
#include "plan/near_memory.h"
#include "reach/process/remote_memory.h"

namespace penna {

struct CodePatch {
  uint64_t at = 0;
  uint8_t before = 0;  // the original byte
  bool is_in = false;
  DisplacedInstruction instruction;
  // Run-time addresses: of the copy, and of the jump after it that leads back.
  uint64_t copy = 0, jump = 0;  // if it is copied
  uint64_t behind() const { return at + instruction.length; }
};

class CodePatches {
 public:
  // Executable memory of the process, for copies within reach of it.
  void add_area(uint64_t address, uint64_t bytes);
  bool has_area_near(uint64_t address) const;

  // Null: *refusal says why.
  const CodePatch* insert(const RemoteMemory& memory, uint64_t at, const char** refusal);
  const CodePatch* find(uint64_t at) const;
  bool is_empty() const { return patches_.empty(); }
  // Where a thread at `pc` would be without us: a different address if it is in a copy.
  uint64_t home_of(uint64_t pc) const;
  bool is_copy_begin(uint64_t pc) const;

  struct PutBack {
    uint64_t places = 0, kept = 0;  // verified; changed by something else, and left alone
  };
  PutBack put_back(const RemoteMemory& memory);
  // For a copied process whose memory may predate put_back().
  void expect_all_in() {
    for (auto& [at, patch] : patches_) patch.is_in = true;
  }
  // Those in unmapped code.
  void forget(uint64_t start, uint64_t end);
  bool any_in(uint64_t start, uint64_t end) const;
  struct Area {
    uint64_t begin, bytes;
    uint64_t used = 0;
  };
  const std::vector<Area>& areas() const { return areas_; }

 private:
  // No instruction is longer than 15 bytes.
  static constexpr size_t kCodeAtOnce = 16;
  bool copy(const RemoteMemory& memory, const std::string& code, CodePatch* patch);
  std::vector<Area> areas_;
  std::unordered_map<uint64_t, CodePatch> patches_;
  // Ordered, to find the copy that contains an address.
  std::map<uint64_t, uint64_t> copies_;  // start of a copy -> address of the original
};

}  // namespace penna

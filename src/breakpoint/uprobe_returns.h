// SPDX-License-Identifier: MIT
// Where functions of a file return: each `ret` that ends them, and those of functions that they tail-call.
//
// Why not the kernel's return probes: they change return addresses on the stack, and an exception that passes one
// terminates the program.
// Invariant: only the file is examined. A function is refused unless all its ways out are known.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_set>
#include <vector>

#include "plan/detour.h"
#include "plan/instruction.h"
#include "symbols/elf/elf_file.h"

namespace penna {

struct FoundReturns {
  std::set<uint64_t> returns;
  const char* refusal = nullptr;
};

class UprobeReturns {
 public:
  // The file must outlive it.
  explicit UprobeReturns(const ElfFile& file);
  // Of the function that begins there; with a refusal, "may leave ...", the rest is meaningless.
  FoundReturns of(uint64_t function) const;

 private:
  class Search;
  const ElfFile& file_;
  const std::vector<FunctionRange> functions_;  // sorted
};

}  // namespace penna

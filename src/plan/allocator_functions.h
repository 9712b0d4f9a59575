// SPDX-License-Identifier: MIT
// The functions of an allocator that is part of a file, and how each can be entered.
//
// Invariant: nothing is looked at but the file's own symbol tables and code, and little of a file without an allocator.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "plan/detour.h"
#include "symbols/elf/elf_file.h"

namespace penna {

struct AllocatorFunction {
  uint64_t start = 0;
  DetourOffer offer;
  // Of one that cannot be entered: where another one begins to which it goes on by jumps, whatever happens; what that
  // one does is all that it does. 0: there is none.
  // Common among operators: delete[] that is nothing but a jump to delete.
  uint64_t goes_on_at = 0;
};
using AllocatorFunctions = std::map<std::string, AllocatorFunction>;  // by name

// Of a native interface, by its name: does the function end blocks? Or has it to do with their end, and is none that a
// program needs?
bool takes_blocks(std::string_view name);
bool only_controls(std::string_view name);

// Those of `names` that the file defines, shown to others or not. Where malloc is among the names and the file has
// none, only native interfaces: operators that a program replaces are no allocator, they reach malloc, or a pool. Of a
// native interface nothing, where the file has no function that gives blocks, or none that takes them: another one has
// that name. `finder`: of the file; asked for only where there is an allocator.
AllocatorFunctions find_allocator(const ElfFile& file, const std::set<std::string>& names,
                                  const std::function<const DetourFinder&()>& finder);
// Those that are defined, whatever they are: only where they begin.
AllocatorFunctions find_named(const ElfFile& file, const std::set<std::string>& names);

}  // namespace penna

// SPDX-License-Identifier: MIT
// The functions of an allocator that is part of a file, and how each can be entered.
//
// Invariant: reads only the file's own symbol tables and code, and little of a file without an allocator.
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
  // For a function that cannot be entered: the start of another one to which it continues by jumps, whatever happens;
  // that one does all of its work. 0: there is none.
  // Common among operators: a delete[] that is only a jump to delete.
  uint64_t continues_at = 0;
};
using AllocatorFunctions = std::map<std::string, AllocatorFunction>;  // by name

// For a function of a native interface, by its name: whether it ends blocks; or whether it only has to do with their
// end, and is not needed by programs.
bool takes_blocks(std::string_view name);
bool only_controls(std::string_view name);

// Those of `names` that the file defines, exported or not. If malloc is among the names and the file has none, only
// native interfaces: operators that a program replaces are not an allocator, they reach malloc, or a pool. A native
// interface is left out if the file has no function that returns blocks, or none that takes them: then something else
// has that name. `finder`: of the file; called only if there is an allocator.
AllocatorFunctions find_allocator(const ElfFile& file, const std::set<std::string>& names,
                                  const std::function<const DetourFinder&()>& finder);
// All that are defined, whatever they are: only where they begin.
AllocatorFunctions find_named(const ElfFile& file, const std::set<std::string>& names);

}  // namespace penna

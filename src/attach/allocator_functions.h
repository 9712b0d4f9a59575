// SPDX-License-Identifier: MIT
// The functions of an allocator that is part of a file, and how each can be entered.
//
// Invariant: nothing is looked at but the file's own symbol tables and code, and little of a file without an allocator.
#pragma once

#include <map>
#include <set>
#include <string>

#include "attach/detour.h"
#include "symbols/elf_file.h"

namespace penna {

// Those of `names` that the file defines, shown to others or not. Where malloc is among the names and the file has none, nothing:
// operators that a program replaces are no allocator, they reach malloc, or a pool.
std::map<std::string, DetourOffer> find_allocator(const ElfFile& file, const std::set<std::string>& names);

}  // namespace penna

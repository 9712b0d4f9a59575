// SPDX-License-Identifier: MIT
// The pointers of a file through which it calls functions of other files: the slots of its procedure linkage table, and
// those that its code calls through directly (-fno-plt).
//
// Invariant: a slot whose value the code may use for anything but a call stays as it is: a program may compare
// addresses of functions. Calls through such slots are recorded where they pass the linkage table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace penna {

struct ImportSite {
  uint64_t slot = 0;  // ELF virtual address of the pointer
  uint64_t entry =
      0;  // of a slot that must stay: the jump through it, in the linkage table; 0: the slot may be changed
  bool hidden = false;  // the slot must stay, and calls go through it directly: they cannot be seen
  std::string name;
  std::string version;  // empty: none is requested
};

// By slot. Functions that must not be entered through a stub are left out: may_be_wrapped().
std::vector<ImportSite> find_import_sites(const ElfFile& file);

// False for those that return twice, look at their return address, are part of the start or the end of a program, or
// are hooks.
bool may_be_wrapped(std::string_view function);

}  // namespace penna

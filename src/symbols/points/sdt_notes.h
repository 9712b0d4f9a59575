// SPDX-License-Identifier: MIT
// The static tracepoints of a binary, as stated by its SystemTap SDT v3 notes (.note.stapsdt).
//
// Invariant: addresses are corrected for prelink and are ELF virtual addresses; strings contain only printable text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace penna {

struct SdtNote {
  std::string provider;
  std::string name;
  uint64_t pc = 0;         // of the nop
  uint64_t noted_pc = 0;   // the same before correction
  uint64_t base = 0;       // link-time address of .stapsdt.base, as noted
  uint64_t semaphore = 0;  // 0: none
  std::string args;        // "-4@%edi 8@-8(%rbp)"
};

// The notes of an ELF file in file order; having none is not an error. Damaged notes are left out; `damaged` gets their
// number.
Result<std::vector<SdtNote>> read_sdt_notes(const std::string& path);
std::vector<SdtNote> read_sdt_notes(const ElfFile& file, size_t* damaged = nullptr);

}  // namespace penna

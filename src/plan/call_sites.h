// SPDX-License-Identifier: MIT
// The places that compilers leave in functions so that their entries can be seen, as a file has them.
//
// -fpatchable-function-entry (gcc: one-byte nops; clang: one nop), -pg -mfentry -mnop-mcount, and XRay's sleds.
// -finstrument-functions and the other forms of -pg call a hook by name and need nothing here.
// Invariant: every place that is returned lies in code of the file, and its bytes were checked.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/arch.h"
#include "symbols/elf/elf_file.h"

namespace penna {

enum class CallSiteKind : uint8_t { kNops, kSled };

struct CallSite {
  uint64_t function = 0;  // its first instruction; ELF virtual addresses
  uint64_t place = 0;
  CallSiteKind kind = CallSiteKind::kNops;
  std::array<uint8_t, kSledBytes> before{};  // what is there: kBranchBytes of nops, or the whole sled
};

struct CallSites {
  std::vector<CallSite> sites;  // by place; one per function
  size_t too_short = 0;         // functions whose nops have no room for a call
};

// `functions`: the addresses at which functions begin, sorted; those of the symbol table, or of none.
CallSites find_call_sites(const ElfFile& file, const std::vector<uint64_t>& functions);

}  // namespace penna

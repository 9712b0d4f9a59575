// SPDX-License-Identifier: MIT
// UnwindTable: where functions without symbols begin and end, from the sorted table of their unwind information
// (.eh_frame_hdr).
//
// Why: a stripped program keeps it, so its functions can still be distinguished, if only by where they begin.
// Invariant: an answer contains the requested address, and comes from an entry that agrees with the table. Encodings
// other than the linkers' usual ones yield no answer.
// https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/ehframechpt.html
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "symbols/elf/elf_file.h"

namespace penna {

class UnwindTable {
 public:
  // `file` must outlive it.
  explicit UnwindTable(const ElfFile& file);

  // The function at the address; nothing if none is described.
  std::optional<AddressRange> function_at(uint64_t address) const;

 private:
  uint64_t begin_of(size_t entry) const;

  const ElfFile& file_;
  uint64_t header_ = 0;             // its address: what the entries are relative to
  std::span<const uint8_t> table_;  // entries of 8 bytes: function, description
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// CodeMarks: some of the bytes of a file's code, one bit each.
//
// Why no list of addresses: every fiftieth byte of code looks like a branch, and a list of their targets would have to
// be sorted, which takes longer than searching the code.
// Invariant: what is not code is never marked.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace penna {

class CodeMarks {
 public:
  explicit CodeMarks(const ElfFile& file);
  // ELF virtual addresses; one that is not code stays unmarked.
  void mark(uint64_t address);
  bool is_marked(uint64_t address) const { return parts_[part_of(address)] && has_mark(address); }
  bool any_from(uint64_t begin, uint64_t end) const;  // a few bytes: each is checked

 private:
  struct Range {
    uint64_t begin, end;
    size_t first;  // of its marks
  };
  std::optional<size_t> mark_of(uint64_t address) const;
  bool has_mark(uint64_t address) const;
  static size_t part_of(uint64_t address) { return address / 16 % kParts; }

  std::vector<Range> ranges_;  // like ElfFile::code_ranges, but disjoint whatever the file claims
  std::vector<bool> marks_;
  // Some mark may be in one of these 16 bytes: where few are marked, that says no for most.
  static constexpr size_t kParts = 2048;
  std::bitset<kParts> parts_;
};

}  // namespace penna

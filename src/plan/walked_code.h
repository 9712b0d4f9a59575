// SPDX-License-Identifier: MIT
// Code whose language walks its stacks by itself: Go, OCaml, what Mono compiles ahead of time, the code that V8 and
// Java's machine write or call.
//
// Why it is left alone: a return address leads into a table that such a runtime looks up, and one of ours (a return
// trampoline) is in none: the next collection, traceback or growing stack would end the program. What uses the system's
// way of unwinding (C, C++, Rust, D, Fortran, gccgo …) finds its way through trampolines.
// Invariant: what is refused here is refused by where it lies or by what it is called, whatever the damage to the file.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace penna {

class WalkedCode {
 public:
  explicit WalkedCode(const ElfFile& file);
  // Why the function that begins there is not entered: "belongs to Go, …". Null: it may be.
  const char* refusal(uint64_t start) const;
  // Where functions may begin that code of Java's machine calls; and those besides, that they go on to by a jump.
  const std::vector<uint64_t>& called() const { return called_; }
  void set_called(std::vector<uint64_t> sorted) { called_ = std::move(sorted); }

 private:
  void read_symbols(const ElfFile& file);
  std::vector<AddressRange> go_, ocaml_, mono_;
  std::vector<uint64_t> called_;  // by code that Java's machine writes: what its own code takes the address of; sorted
};

// The same, by its name as it stands in the symbol table.
const char* why_walked(std::string_view raw_name);

}  // namespace penna

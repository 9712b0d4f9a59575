// SPDX-License-Identifier: MIT
// Code whose runtime walks its own stacks: Go, OCaml, code that Mono compiles ahead of time, code that V8 and the Java
// virtual machine generate or call.
//
// Why it is left alone: a return address leads into a table that such a runtime looks up, and a return trampoline is in
// none: the next collection, traceback or growing stack would end the program. Code that uses the system's unwinder (C,
// C++, Rust, D, Fortran, gccgo …) gets through trampolines.
// Invariant: code is refused by its address or its name, whatever the damage to the file.
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
  // Where functions may begin that code of the Java virtual machine calls; and those to which they continue by a jump.
  const std::vector<uint64_t>& called() const { return called_; }
  void set_called(std::vector<uint64_t> sorted) { called_ = std::move(sorted); }

 private:
  void read_symbols(const ElfFile& file);
  std::vector<AddressRange> go_, ocaml_, mono_;
  std::vector<uint64_t> called_;  // called by code that the Java virtual machine generates: what its own code takes the
                                  // address of; sorted
};

// The same, by its name as it stands in the symbol table.
const char* why_walked(std::string_view raw_name);

}  // namespace penna

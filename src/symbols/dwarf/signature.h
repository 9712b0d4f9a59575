// SPDX-License-Identifier: MIT
// Signatures: what the functions of a module take and give, as places from which a target can copy it.
//
// Why: DWARF knows names and types, the ABI knows places (value_places.h), and compilers change functions that only
// they call. All three are put together here, so that a target only loads and copies.
// Invariant: a value is named only when its place is certain for the code at hand. For functions that others can call
// (global, weak or hidden symbols) the ABI is certain, unless DWARF puts a value into another argument register at the
// very first instruction (ms_abi): then all go by DWARF. Functions of one file only (static, clones like
// foo.constprop.0, and what link-time optimisation made local) may have lost parameters: the ABI holds when DWARF has
// every parameter either in its ABI place at the first instruction or in memory of its own; else only those that DWARF
// then has in one argument register each are named. Results of such functions may be gone without a trace: none of
// clones and of functions that clang optimised. What is left out is said in `note`.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "penna/value_plan.h"
#include "symbols/dwarf/dwarf_functions.h"
#include "symbols/dwarf/dwarf_units.h"
#include "symbols/elf/debug_files.h"
#include "symbols/elf/elf_file.h"

namespace penna {

// One value of a record.
struct CapturedValue {
  std::string
      name;  // "fd"; a field "shape.radius"; the pointer to a class itself "shape"; of a result "return", "return.x"
  penna_value where{};  // how the target gets at it
  // How it is shown: "" as its type says; "x" hex, "p" address of code, "low" the low 8 bytes of 16, "e:RED=0,GREEN=1"
  // an enum, of flags too (ends with ",..." when it has more). Behind it " ..." when values that would follow are left
  // out.
  std::string format;
};

struct Signature {
  std::vector<CapturedValue> arguments, results;  // each at most PENNA_MAX_ARGS
  std::string file;                               // where it is written; empty: unknown
  uint32_t line = 0;                              // 0: unknown
  std::string note;                               // one sentence about values that are missing; empty: none is
};

// Thread-compatible: one thread at a time an object. `module` must outlive it.
class Signatures {
 public:
  static constexpr size_t kMaxFields = 6;  // of one class, so that other arguments have room

  // Finds the DWARF of a module, in itself or in its debug file. The error says that there is none, or that the module
  // is of another machine than x86-64.
  static Result<std::unique_ptr<Signatures>> open(const ElfFile& module, const DebugSearch& search);

  // The signature of the function that begins at an address of the file. The error says why there is none: no DWARF for
  // it, a language or calling convention whose calls Penna does not know, types that are damaged or not there.
  Result<Signature> of(uint64_t address);

 private:
  Signatures() = default;
  void add_symbols(const ElfFile& file, const ElfSection& section);
  UnitFunctions& functions_of(Dwarf_Die unit);
  bool has_types(Dwarf_Die unit);

  std::optional<ElfFile> debug_, alt_;
  std::unique_ptr<DwarfUnits> units_;                                      // declared behind the files that it reads
  tsl::robin_map<const void*, std::unique_ptr<UnitFunctions>> functions_;  // by libdw's unit
  tsl::robin_map<const void*, bool> has_types_;                            // the same
  std::vector<uint64_t> called_by_others_, clones_;                        // addresses, sorted
  bool any_symbol_ = false;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// Signatures: the arguments and results of a module's functions, as places from which a target can copy them.
//
// Why: DWARF knows names and types, the ABI knows places (value_places.h), and compilers change functions that have no
// outside callers. All three are combined here, so that a target only loads and copies.
// Invariant: a value is named only if its place is certain for the actual code. For functions that others can call
// (global, weak or hidden symbols) the ABI is certain, unless DWARF puts a value into another argument register at the
// very first instruction (ms_abi): then all follow DWARF. Functions local to one file (static, clones like
// foo.constprop.0, and what link-time optimisation made local) may have lost parameters: the ABI applies if DWARF has
// every parameter either in its ABI place at the first instruction or in its own memory; otherwise only those are named
// that DWARF then has in one argument register each. Results of such functions may be gone without a trace: none are
// named for clones and for functions that clang optimised. `note` says what is left out.
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
      name;  // "fd"; a field "shape.radius"; the pointer to a class itself "shape"; for a result "return", "return.x"
  penna_value where{};  // how the target accesses it
  // How it is shown: "" as its type says; "x" hex, "p" code address, "low" the low 8 bytes of 16, "e:RED=0,GREEN=1" an
  // enum, also of flags (ends with ",..." if it has more). Followed by " ..." if values that would come next are left
  // out.
  std::string format;
};

struct Signature {
  std::vector<CapturedValue> arguments, results;  // each at most PENNA_MAX_ARGS
  std::string file;                               // where it is defined; empty: unknown
  uint32_t line = 0;                              // 0: unknown
  std::string note;                               // one sentence about missing values; empty: none are
};

// Thread-compatible: one thread at a time per object. `module` must outlive it.
class Signatures {
 public:
  static constexpr size_t kMaxFields = 6;  // of one class, so that other arguments have room

  // Finds the DWARF of a module, in itself or in its debug file. The error says that there is none, or that the module
  // is for another machine than x86-64.
  static Result<std::unique_ptr<Signatures>> open(const ElfFile& module, const DebugSearch& search);

  // The signature of the function that begins at an address of the file. The error says why there is none: no DWARF for
  // it, a language or calling convention unknown to Penna, damaged or missing types.
  Result<Signature> of(uint64_t address);

 private:
  Signatures() = default;
  void add_symbols(const ElfFile& file, const ElfSection& section);
  UnitFunctions& functions_of(Dwarf_Die unit);
  bool has_types(Dwarf_Die unit);

  std::optional<ElfFile> debug_, alt_;
  std::unique_ptr<DwarfUnits> units_;                                      // declared after the files that it reads
  tsl::robin_map<const void*, std::unique_ptr<UnitFunctions>> functions_;  // by libdw's unit
  tsl::robin_map<const void*, bool> has_types_;                            // likewise
  std::vector<uint64_t> called_by_others_, clones_;                        // addresses, sorted
  bool any_symbol_ = false;
};

}  // namespace penna

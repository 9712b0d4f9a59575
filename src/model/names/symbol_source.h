// SPDX-License-Identifier: MIT
// SymbolSource: what the model wants to know of symbols, as an interface.
//
// Why an interface: tests name addresses without ELF files. make_symbol_source() gives the real one, over src/symbols.
// Invariant: answers never change for the same question; an empty answer means "no name", never an error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recording/types.h"

namespace penna {

struct NamedFile {
  const std::string& path;
  std::span<const uint8_t> build_id;
};

struct SourceFrame {
  std::string function;  // demangled; never empty
  std::string file;      // may be empty
  uint32_t line = 0;     // 0 = unknown
  bool inlined = false;  // into the frame behind it
};

struct DataSymbol {
  std::string name;
  uint64_t offset = 0;   // of the address in it
  std::string member{};  // what lies there: ".queue.mutex", "[3]"; empty: unknown, or nothing but the variable
};

class SymbolSource {
 public:
  virtual ~SymbolSource() = default;
  // The frames at a code address of the file, the innermost inlined one first; empty when it has no name.
  virtual std::vector<SourceFrame> code(const NamedFile& file, uint64_t address) = 0;
  // Every name of the function that begins there; empty: it has but one, or none.
  virtual std::vector<std::string> names(const NamedFile&, uint64_t) { return {}; }
  // Where the function begins that holds the address; nothing without a symbol.
  virtual std::optional<uint64_t> function_start(const NamedFile&, uint64_t) { return std::nullopt; }
  // Where a function begins that no symbol names; nothing when that is not known either.
  virtual std::optional<uint64_t> unnamed_start(const NamedFile&, uint64_t) { return std::nullopt; }
  // The variable that holds the address.
  virtual std::optional<DataSymbol> data(const NamedFile& file, uint64_t address) = 0;
  // Of each value of the point whose slot is there how an enum is shown (SiteArgument::format), or nothing; empty:
  // nobody knows.
  virtual std::vector<std::string> enums_of_point(const NamedFile&, uint64_t, std::span<const SiteArgument>) {
    return {};
  }
  // True for the code where a process begins: no frame is further out.
  virtual bool is_entry(const NamedFile& file, uint64_t address) = 0;
  // What is wrong with the names of this file, as a sentence with the next step; empty when all is well.
  virtual std::string problem(const NamedFile& file) = 0;
  // True when that build of the file is no longer to be found: it is gone, or was rebuilt.
  virtual bool is_lost(const NamedFile&) { return false; }
};

struct SymbolOptions;  // symbols/symbol_file.h: where to look, how to demangle
std::unique_ptr<SymbolSource> make_symbol_source(const SymbolOptions& options);
std::unique_ptr<SymbolSource> make_symbol_source();  // this machine's files, full names

}  // namespace penna

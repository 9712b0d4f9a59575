// SPDX-License-Identifier: MIT
// SymbolSource: what the model needs to know about symbols, as an interface.
//
// Why an interface: tests name addresses without ELF files. make_symbol_source() returns the real one, over
// src/symbols.
// Invariant: answers to the same question never change; an empty answer means "no name", never an error.
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
  bool inlined = false;  // into the frame after it
};

struct DataSymbol {
  std::string name;
  uint64_t offset = 0;   // of the address in it
  std::string member{};  // what lies there: ".queue.mutex", "[3]"; empty: unknown, or just the variable
};

class SymbolSource {
 public:
  virtual ~SymbolSource() = default;
  // The frames at a code address of the file, the innermost inlined one first; empty without a name.
  virtual std::vector<SourceFrame> code(const NamedFile& file, uint64_t address) = 0;
  // All names of the function that begins there; empty: it has only one, or none.
  virtual std::vector<std::string> names(const NamedFile&, uint64_t) { return {}; }
  // The beginning of the function that contains the address; nothing without a symbol.
  virtual std::optional<uint64_t> function_start(const NamedFile&, uint64_t) { return std::nullopt; }
  // The beginning of a function that no symbol names; nothing if that is unknown too.
  virtual std::optional<uint64_t> unnamed_start(const NamedFile&, uint64_t) { return std::nullopt; }
  // The variable that contains the address.
  virtual std::optional<DataSymbol> data(const NamedFile& file, uint64_t address) = 0;
  // For each value of the point whose slot is there, how an enum is shown (SiteArgument::format), or nothing; empty:
  // unknown.
  virtual std::vector<std::string> enums_of_point(const NamedFile&, uint64_t, std::span<const SiteArgument>) {
    return {};
  }
  // True for the entry code of a process: no frame is further out.
  virtual bool is_entry(const NamedFile& file, uint64_t address) = 0;
  // What is wrong with the names of this file, as a sentence with the next step; empty if nothing is.
  virtual std::string problem(const NamedFile& file) = 0;
  // True if that build of the file can no longer be found: it is gone, or was rebuilt.
  virtual bool is_lost(const NamedFile&) { return false; }
};

struct SymbolOptions;  // symbols/symbol_file.h: where to look, how to demangle
std::unique_ptr<SymbolSource> make_symbol_source(const SymbolOptions& options);
std::unique_ptr<SymbolSource> make_symbol_source();  // this machine's files, full names

}  // namespace penna

// SPDX-License-Identifier: MIT
// SymbolFile: names for the addresses of one module of a recording, read after the fact from its files on disk.
//
// Why: recordings keep only addresses; a name must come from the very build that ran, or not at all.
// Invariant: every name comes from a file with the recorded build ID (if one was recorded).
//
// Addresses are ELF virtual addresses: the caller subtracts the recorded load bias from run-time addresses.
#pragma once

#include <tsl/robin_map.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/demangle.h"
#include "symbols/dwarf/data_members.h"
#include "symbols/dwarf/dwarf_frames.h"
#include "symbols/elf/debug_files.h"
#include "symbols/elf/symbol_table.h"
#include "symbols/elf/unwind_table.h"
#include "symbols/points/point_enums.h"

namespace penna {

// A module as the recording names it.
struct ModuleFile {
  std::string path;  // absolute; "[vdso]" for the kernel's
  BuildId build_id;  // empty: it had none, and nothing is verified
};

struct SymbolOptions {
  DebugSearch search;
  Demangle demangle = Demangle::kFull;
  // Whether debug information is read: lines, inlined calls, members of variables. Without it, only symbols are: this
  // is quick even for libraries with a lot of it.
  bool reads_dwarf = true;
  // A file whose build ID was not recorded is accepted if it was last written no later than this (CLOCK_REALTIME, ns),
  // or lies under symfs.
  uint64_t unverified_until = UINT64_MAX;
  // Of a function's names the one with the highest rank is shown, otherwise the best known; empty: always the best
  // known.
  std::function<int(const std::string& name)> rank;
};

// All string_views in these live as long as the SymbolFile that returned them.
struct Symbol {
  std::string_view name;  // for people: demangled, without version, with "@plt"
  std::string_view raw;   // as in the file
  uint64_t start = 0;
  uint64_t size = 0;
  SymbolKind kind = SymbolKind::kFunction;
  SymbolBinding binding = SymbolBinding::kGlobal;
};

struct FrameName {
  std::string_view function;  // empty: no symbol covers the address
  std::string_view file;      // empty: unknown
  uint32_t line = 0;          // 0: unknown
  bool inlined = false;       // the call of this function was inlined into the next frame
};

struct ObjectName {
  std::string_view name;
  uint64_t offset = 0;   // of the address within the object
  uint64_t size = 0;     // of the object
  std::string member{};  // what lies there, such as ".queue.mutex"; empty: unknown, or just the object itself
};

enum class SymbolLevel : uint8_t {
  kNone,     // no names at all
  kDynamic,  // only exported functions: the module is stripped
  kSymbols,  // all functions, no file and line
  kDwarf,    // all functions, inlined calls, file and line
};

struct ModuleStatus {
  SymbolLevel level = SymbolLevel::kNone;
  std::string debug_file;  // the separate debug file in use; empty: none
  std::string advice;      // one sentence: what is missing and what to do; empty: nothing is missing
};

// Thread-compatible: one thread at a time per object (look-ups fill caches), any number of objects in parallel.
class SymbolFile {
 public:
  // Opens the module and verifies it. If its file is gone or was rebuilt, its debug file found by build ID serves by
  // itself; if there is none either, the error says so.
  static Result<std::unique_ptr<SymbolFile>> open(const ModuleFile& module, const SymbolOptions& options);
  // Over bytes: for the vdso, and for fuzzing. Searches no debug files.
  static Result<std::unique_ptr<SymbolFile>> from_memory(std::string name, std::vector<uint8_t> bytes,
                                                         const SymbolOptions& options);

  // The function at the address; nothing if outside of all.
  std::optional<Symbol> find(uint64_t address);
  // Where the function at the address begins and ends according to unwind information: for one that no symbol names.
  std::optional<AddressRange> find_unnamed(uint64_t address);
  // The calls at the address, innermost inlined one first; one frame without line if there is no DWARF; empty if
  // nothing is known. `call_site`: the address is a return address, so the instruction before it is meant.
  std::vector<FrameName> frames(uint64_t address, bool call_site);
  // The global or static variable at the address.
  std::optional<ObjectName> find_object(uint64_t address);
  // For each value of the point whose slot is there its enumerators, or nothing (point_enums.h); empty: no DWARF for
  // it.
  std::vector<std::string> enums_of_point(uint64_t slot, std::span<const PointValueName> values);
  // True in the code at which a process enters the file, `_start` or, after it in the dynamic linker, `_dl_start_user`:
  // it has no caller, whatever its unwind information says (often it has none).
  bool is_entry(uint64_t address) const;
  // All names of the function that begins there, as shown, and with its version if it has one; empty: it has only one.
  std::vector<std::string> names(uint64_t start);
  // All functions by address, one per start address, including PLT entries.
  std::vector<Symbol> functions();

  // Final after the first frames(): only then is the DWARF read, and found to be intact or damaged.
  const ModuleStatus& status() const { return status_; }

 private:
  explicit SymbolFile(const SymbolOptions& options) : options_(options) {}
  void load(const std::string& path, const BuildId& build_id, bool search);
  void load_symbols();
  Result<> unchanged() const;
  void set_status(const std::string& path, bool alone);
  void open_dwarf();
  const ElfFile& shape() const { return main_ ? *main_ : *debug_; }  // the file whose sections count
  std::string_view display(const RawSymbol& symbol);
  const RawSymbol& shown_of(const RawSymbol& symbol);
  std::string_view display(const char* linkage_name);
  std::string_view keep(std::string text);
  std::string_view file_name(const DwarfFrame& frame);
  FrameName name_frame(const DwarfFrame& frame, uint64_t address);

  SymbolOptions options_;
  std::optional<ElfFile> main_, debug_, mini_, alt_;
  SymbolTable table_;
  std::optional<UnwindTable> unwind_table_;
  bool searched_ = false;
  bool dwarf_opened_ = false;
  std::unique_ptr<DwarfFrames> dwarf_;
  std::unique_ptr<DataMembers> members_;  // in dwarf_
  ModuleStatus status_;
  std::deque<std::string> strings_;
  tsl::robin_map<const void*, std::string_view> displayed_;  // by the raw name's place in its file
  tsl::robin_map<const void*, std::string_view> files_;      // by libdw's string
  size_t demangle_budget_ = size_t{256} << 20;               // characters; then names stay raw
};

}  // namespace penna

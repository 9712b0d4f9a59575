// SPDX-License-Identifier: MIT
// CodeMap: where in which file an address of a process lies, whatever process, time or load address it was seen at.
//
// Why: the same function of a forked child, of another run of the program in the recording, or of a library that was
// loaded twice is one function to the user. Invariant: two places are equal when file (path and build-id) and address
// in the file are; an address in no known module is equal only to itself in the same process.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "recording/reader.h"

namespace penna {

using ModuleId = uint32_t;
inline constexpr ModuleId kNoModule = UINT32_MAX;

struct CodePlace {
  ModuleId module = kNoModule;
  uint32_t process = 0;  // of an unknown address; else 0
  uint64_t address = 0;  // in the file's own numbering (ELF virtual address); the run-time address when unknown
  bool known() const { return module != kNoModule; }
  bool operator==(const CodePlace&) const = default;
};

struct CodePlaceHash {
  size_t operator()(const CodePlace& place) const {
    return MixHash{}(place.address ^ (uint64_t{place.module} << 40) ^ (uint64_t{place.process} << 20));
  }
};

std::string file_name_of(const std::string& path);  // its last part; "[unknown]" for an empty one
// Is it that of an allocator that replaces libc's?
bool is_allocator_file(const std::string& path);
// What code without a name is called: "libfoo.so+0x1234", "[unknown] 0x7f00". `path`: of the place's module.
std::string nameless_text(const CodePlace& place, const std::string& path);

// Not thread-safe: remembers answers.
class CodeMap {
 public:
  explicit CodeMap(const Recording& recording);

  // The place of `pc` (a function's first instruction, or a data address) at a time.
  CodePlace locate(uint32_t process, uint64_t pc, uint64_t ticks) const;
  // The place of the call in front of a return address: of pc - 1.
  CodePlace locate_return(uint32_t process, uint64_t pc, uint16_t generation) const;
  // False when no address of the process ever belonged to two modules: then `ticks` makes no difference to locate().
  bool time_matters(uint32_t process) const { return reused_[process]; }

  size_t module_count() const { return modules_.size(); }
  const std::string& path(ModuleId id) const { return modules_[id]->path; }
  std::string file_name(ModuleId id) const { return file_name_of(path(id)); }
  std::span<const uint8_t> build_id(ModuleId id) const { return modules_[id]->build_id; }

 private:
  CodePlace place(uint32_t process, uint32_t module_index, uint64_t pc) const;

  const Recording& recording_;
  std::vector<const Module*> modules_;      // one of each file
  std::vector<std::vector<ModuleId>> ids_;  // by process, by index into its modules
  std::vector<bool> reused_;                // by process
};

using FunctionId = uint32_t;
inline constexpr FunctionId kNoFunction = UINT32_MAX;

// FunctionTable: dense numbers for the functions that were called. Not thread-safe.
class FunctionTable {
 public:
  explicit FunctionTable(const CodeMap& map) : map_(map) {}
  FunctionId intern(uint32_t process, uint64_t pc, uint64_t ticks);
  const CodePlace& place(FunctionId id) const { return places_[id]; }
  size_t size() const { return places_.size(); }

 private:
  const CodeMap& map_;
  std::vector<CodePlace> places_;
  tsl::robin_map<CodePlace, FunctionId, CodePlaceHash> ids_;
};

}  // namespace penna

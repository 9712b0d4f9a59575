// SPDX-License-Identifier: MIT
// CodeMap: where in which file an address of a process lies, regardless of the process, time or load address at which
// it was seen.
//
// Why: the same function in a forked child, in another run of the program within the recording, or in a library that
// was loaded twice is one function to the user. Invariant: two places are equal if their file (path and build ID) and
// address in the file are; an address in no known module equals only itself in the same process.
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
  uint32_t process = 0;  // for an unknown address; else 0
  uint64_t address = 0;  // in the file's numbering (ELF virtual address); the run-time address if unknown
  bool known() const { return module != kNoModule; }
  bool operator==(const CodePlace&) const = default;
};

struct CodePlaceHash {
  size_t operator()(const CodePlace& place) const {
    return MixHash{}(place.address ^ (uint64_t{place.module} << 40) ^ (uint64_t{place.process} << 20));
  }
};

std::string file_name_of(const std::string& path);  // its last component; "[unknown]" for an empty path
// Whether it is an allocator that replaces libc's.
bool is_allocator_file(const std::string& path);
// How nameless code is shown: "libfoo.so+0x1234", "[unknown] 0x7f00". `path`: that of the place's module.
std::string nameless_text(const CodePlace& place, const std::string& path);

// Not thread-safe: caches answers.
class CodeMap {
 public:
  explicit CodeMap(const Recording& recording);

  // The place of `pc` (a function's first instruction, or a data address) at a time.
  CodePlace locate(uint32_t process, uint64_t pc, uint64_t ticks) const;
  // The place of the call before a return address: that of pc - 1.
  CodePlace locate_return(uint32_t process, uint64_t pc, uint16_t generation) const;
  // False if no address of the process ever belonged to two modules: `ticks` then makes no difference to locate().
  bool time_matters(uint32_t process) const { return reused_[process]; }

  size_t module_count() const { return modules_.size(); }
  const std::string& path(ModuleId id) const { return modules_[id]->path; }
  std::string file_name(ModuleId id) const { return file_name_of(path(id)); }
  std::span<const uint8_t> build_id(ModuleId id) const { return modules_[id]->build_id; }

 private:
  CodePlace place(uint32_t process, uint32_t module_index, uint64_t pc) const;

  const Recording& recording_;
  std::vector<const Module*> modules_;      // one per file
  std::vector<std::vector<ModuleId>> ids_;  // by process, by index into its modules
  std::vector<bool> reused_;                // by process
};

using FunctionId = uint32_t;
inline constexpr FunctionId kNoFunction = UINT32_MAX;

// FunctionTable: dense numbers for called functions. Not thread-safe.
class FunctionTable {
 public:
  explicit FunctionTable(const CodeMap& map) : map_(map) {}
  FunctionId intern(uint32_t process, uint64_t pc, uint64_t ticks);
  FunctionId intern(const CodePlace& place);  // of the same recording
  const CodePlace& place(FunctionId id) const { return places_[id]; }
  size_t size() const { return places_.size(); }

 private:
  const CodeMap& map_;
  std::vector<CodePlace> places_;
  tsl::robin_map<CodePlace, FunctionId, CodePlaceHash> ids_;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// The programs and libraries that a process has mapped, from /proc/PID/maps, and its memory.
//
// Why checked: a path in the maps may by now be another file, or lie in another container. Invariant: a module's file
// is the mapped one; what is unavailable is named in a sentence, not guessed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/remote_ptr.h"
#include "base/result.h"
#include "symbols/elf/elf_file.h"

namespace penna {

struct ProcessModule {
  std::string path;  // as the process knows it
  ElfFile file;
  uint64_t bias = 0;  // run-time address - address in the file

  RemoteBytes in_process(uint64_t file_address) const { return RemoteBytes(file_address + bias); }
};

struct ProcessModules {
  std::string name;  // of the process, at most 15 characters
  std::vector<ProcessModule> modules;
  std::vector<std::string> missing;  // a sentence for each that could not be opened
};

// Errors: no such process, its maps may not be read.
Result<ProcessModules> read_process_modules(uint32_t pid);

// The memory of a process. Reading requires the right to trace it.
class ProcessMemory {
 public:
  explicit ProcessMemory(uint32_t pid);
  // False: some of it cannot be read.
  bool read(RemotePtr<const uint8_t> address, std::span<uint8_t> to) const;
  // Empty if it can be read at all; else why not, in a sentence.
  const std::string& refusal() const { return refusal_; }

 private:
  Fd file_;
  std::string refusal_;
};

// A line of the maps for a file. Exposed for tests; false for damaged lines and those without a file.
struct MappedFile {
  uint64_t start = 0, end = 0, offset = 0, inode = 0;
  bool executable = false;
  std::string path;  // the original path: without " (deleted)", with \012 decoded to a line end
};
bool parse_maps_line(std::string_view line, MappedFile* to);

}  // namespace penna

// SPDX-License-Identifier: MIT
// ElfFacts: what a program is, as far as it determines whether and how it can be recorded.
//
// Why: `penna record` must say in one sentence what cannot be recorded, before it starts anything.
// Invariant: facts are read only from the file; nothing is run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbols/elf/elf_file.h"

namespace penna {

struct ElfFacts {
  std::string path;                // the requested program
  std::vector<std::string> chain;  // the interpreters that "#!" lines lead through; the last one is the ELF file
  bool is_elf = false;             // false: neither ELF nor a script; everything below is empty then
  int bits = 0;                    // 32 or 64
  bool big_endian = false;
  int machine = 0;           // EM_*
  std::string machine_name;  // "x86-64", "AArch64"; "machine 243" if it has no known name
  bool is_program = false;   // can be executed: ET_EXEC, or ET_DYN with an entry point and an interpreter or PIE flag
  bool position_independent = false;
  bool is_dynamic = false;                // has PT_DYNAMIC and an interpreter: a preload works
  bool is_static = false;                 // a program without PT_INTERP (also static-pie)
  std::string interpreter;                // "/lib64/ld-linux-x86-64.so.2"
  bool setuid = false;                    // setuid, setgid or file capabilities: the loader ignores preloads
  std::vector<std::string> needed;        // DT_NEEDED
  bool defines_malloc = false;            // it has its own malloc instead of libc's
  std::vector<std::string> call_options;  // compiler options that prepared its functions for tracing: "-pg"
  bool has_symtab = false;
  bool has_dwarf = false;
  BuildId build_id;

  const std::string& elf_path() const { return chain.empty() ? path : chain.back(); }
};

// Reads the facts of a program (a path, not looked up in PATH). Follows "#!" at most 4 times, like the kernel. Errors:
// the file, or an interpreter it names, cannot be read or is damaged.
Result<ElfFacts> read_elf_facts(const std::string& path);

}  // namespace penna

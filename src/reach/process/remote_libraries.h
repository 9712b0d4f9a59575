// SPDX-License-Identifier: MIT
// The libraries of a running process, as its dynamic linker lists them, and the symbols they define: read from its
// memory.
//
// Why not from files: the process may live in another mount namespace, and its files may have been replaced since.
// Invariant: everything is untrusted: lists have an end, numbers a limit. References: link.h; the ELF gABI; the GNU
// hash section.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reach/process/remote_memory.h"

namespace penna {

// Run-time addresses [start, end).
struct RemoteRange {
  uint64_t start = 0, end = 0;
  bool holds(uint64_t address) const { return address - start < end - start; }
};

struct RemoteLibrary {
  uint64_t map = 0;  // its link_map
  uint64_t bias = 0, dynamic = 0;
  std::string name;    // empty: the program
  uint64_t phdrs = 0;  // its program headers; 0: not mapped
  uint32_t phdr_count = 0;
};

// The program itself, from what the kernel passed to it.
RemoteLibrary program_of(pid_t pid, const RemoteMemory& memory);

// In the dynamic linker's order. The error is text to follow "process N ": no dynamic linker, or it has not got that
// far.
Result<std::vector<RemoteLibrary>> list_libraries(pid_t pid, const RemoteMemory& memory);

// The symbols that it exports.
class RemoteSymbols {
 public:
  RemoteSymbols(const RemoteMemory& memory, const RemoteLibrary& library);
  // Run-time address; 0: not defined.
  uint64_t find(std::string_view name) const;

 private:
  struct Symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
  };
  uint64_t bias_;
  std::vector<Symbol> symbols_;
  std::string names_;
};

// An entry of its dynamic section; 0 if missing.
uint64_t dynamic_value(const RemoteMemory& memory, const RemoteLibrary& library, int64_t tag);

// Its code: the executable segments.
std::vector<RemoteRange> code_of(const RemoteMemory& memory, const RemoteLibrary& library);

// Initial values of its thread-local variables: its PT_TLS segment.
struct RemoteTls {
  uint64_t image = 0;
  uint64_t bytes = 0;  // of the image; the rest is zero
};
std::optional<RemoteTls> tls_of(const RemoteMemory& memory, const RemoteLibrary& library);

}  // namespace penna

// SPDX-License-Identifier: MIT
// The libraries of a running process, as its dynamic linker lists them, and what they define: read from its memory.
//
// Why not from files: the process may live in another mount namespace, and its files may have been replaced since.
// Invariant: all is untrusted: lists have an end, numbers a limit. References: link.h; the ELF gABI; the GNU hash
// section.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reach/remote_memory.h"

namespace penna {

// [start, end) of run-time addresses.
struct RemoteRange {
  uint64_t start = 0, end = 0;
  bool holds(uint64_t address) const { return address - start < end - start; }
};

struct RemoteLibrary {
  uint64_t map = 0;  // its link_map
  uint64_t bias = 0, dynamic = 0;
  std::string name;    // empty: the program
  uint64_t phdrs = 0;  // its program headers; 0: they are not mapped
  uint32_t phdr_count = 0;
};

// The program itself, by what the kernel told it.
RemoteLibrary program_of(pid_t pid, const RemoteMemory& memory);

// In the dynamic linker's order. Error, as words that follow "process N ": it has no dynamic linker, or is not that far
// yet.
Result<std::vector<RemoteLibrary>> list_libraries(pid_t pid, const RemoteMemory& memory);

// What it defines for others.
class RemoteSymbols {
 public:
  RemoteSymbols(const RemoteMemory& memory, const RemoteLibrary& library);
  // Its run-time address; 0: it does not define it.
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

// Of an entry of its dynamic section; 0: it has none.
uint64_t dynamic_value(const RemoteMemory& memory, const RemoteLibrary& library, int64_t tag);

// Its code: segments that can be executed.
std::vector<RemoteRange> code_of(const RemoteMemory& memory, const RemoteLibrary& library);

// The first values that its thread-local variables have: its PT_TLS segment.
struct RemoteTls {
  uint64_t image = 0;
  uint64_t bytes = 0;  // of the image; the rest is zero
};
std::optional<RemoteTls> tls_of(const RemoteMemory& memory, const RemoteLibrary& library);

}  // namespace penna

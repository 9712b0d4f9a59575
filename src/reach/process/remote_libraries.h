// SPDX-License-Identifier: MIT
// The libraries of a running process, as its dynamic linker lists them, and the symbols they define: read from its
// memory.
//
// Why not from files: the process may live in another mount namespace, and its files may have been replaced since.
// Invariant: everything is untrusted: lists have an end, numbers a limit. References: link.h; the ELF gABI; the GNU
// hash section.
#pragma once

#include <elf.h>
#include <link.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reach/process/remote_memory.h"

namespace penna {

// Code at [start, end).
struct RemoteRange {
  CodePtr start, end;
  bool holds(CodePtr address) const { return bytes_between(start, address) < bytes_between(start, end); }
};

struct RemoteLibrary {
  RemotePtr<link_map> map;
  uint64_t bias = 0;  // run-time address - address in the file
  RemotePtr<Elf64_Dyn> dynamic;
  std::string name;             // empty: the program
  RemotePtr<Elf64_Phdr> phdrs;  // null: not mapped
  uint32_t phdr_count = 0;

  template <typename T>
  RemotePtr<T> at(uint64_t file_address) const {
    return RemotePtr<T>(bias + file_address);
  }
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
  // Null: not defined. What is there is the caller's to know.
  template <typename T = void>
  RemotePtr<T> find(std::string_view name) const {
    return find_any(name).as<T>();
  }

 private:
  RemotePtr<> find_any(std::string_view name) const;
  uint64_t bias_;
  std::vector<Elf64_Sym> symbols_;
  std::string names_;
};

// An entry of its dynamic section, which may be an address or a size; 0 if missing.
uint64_t dynamic_value(const RemoteMemory& memory, const RemoteLibrary& library, int64_t tag);

// Its code: the executable segments.
std::vector<RemoteRange> code_of(const RemoteMemory& memory, const RemoteLibrary& library);

// Initial values of its thread-local variables: its PT_TLS segment.
struct RemoteTls {
  RemoteBytes image;
  uint64_t bytes = 0;  // of the image; the rest is zero
};
std::optional<RemoteTls> tls_of(const RemoteMemory& memory, const RemoteLibrary& library);

}  // namespace penna

// SPDX-License-Identifier: MIT
// ElfFile: one opened ELF program, shared library or separate debug file, with its sections and build ID.
//
// Why: libelf returns raw tables of an untrusted file; here every size is checked once.
// Invariant: section names and contents point into private memory that lives as long as the ElfFile; the file itself is
// never mapped (docs/decisions/0025). Everything returned is of one version of the file: once the file has changed,
// nothing is.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/file_copy.h"
#include "base/result.h"

namespace penna {

using BuildId = std::vector<uint8_t>;

struct AddressRange {
  uint64_t begin = 0;  // ELF virtual addresses
  uint64_t end = 0;    // exclusive
  bool contains(uint64_t address) const { return address >= begin && address < end; }
};

struct ElfSection {
  std::string_view name;
  size_t index = 0;
  uint32_t type = 0;   // SHT_*
  uint64_t flags = 0;  // SHF_*
  uint64_t address = 0;
  uint64_t offset = 0;  // in the file
  uint64_t size = 0;    // as the header claims; data() and raw() return what exists
  uint32_t link = 0;
  uint64_t entry_size = 0;
  bool allocated() const { return (flags & SHF_ALLOC) != 0; }
  bool executable() const { return (flags & SHF_EXECINSTR) != 0; }
  // SHF_ALLOC sections: the addresses they occupy; empty if the header's sum overflows.
  AddressRange range() const {
    return address + size < address ? AddressRange{} : AddressRange{address, address + size};
  }
};

// Movable, not copyable. All const members may be called from one thread at a time (libelf caches inside).
class ElfFile {
 public:
  // kModule: a program or library (ET_EXEC, ET_DYN), or its debug file; kAny: also ET_REL, which dwz files are.
  enum class Kind : uint8_t { kModule, kAny };
  // Opens a regular file (no fifo, no device). Errors: cannot open, not ELF, wrong kind, damaged.
  static Result<ElfFile> open(const std::string& path, Kind kind = Kind::kModule);
  // The same for an open file; `path` is for errors.
  static Result<ElfFile> read(Fd opened, const std::string& path, Kind kind = Kind::kModule);
  // The same over bytes in memory; `name` replaces the path in errors.
  static Result<ElfFile> from_memory(std::string name, std::vector<uint8_t> bytes);

  const std::string& path() const { return path_; }
  Elf* handle() const { return elf_.get(); }
  const GElf_Ehdr& header() const { return header_; }
  const BuildId& build_id() const { return build_id_; }  // empty if it has none
  std::span<const ElfSection> sections() const { return sections_; }
  std::span<const GElf_Phdr> segments() const { return segments_; }

  const ElfSection* section(std::string_view name) const;
  const ElfSection* section_of_type(uint32_t type) const;
  // True if the named section has bytes in this file (a stripped or debug-only file keeps some as SHT_NOBITS).
  bool has_contents(std::string_view name) const;
  // Contents in this machine's byte order (for tables), with the strings that they refer to, or as in the file (raw);
  // null or empty if they do not exist, or the file has changed.
  Elf_Data* data(const ElfSection& section) const;
  std::span<const uint8_t> raw(const ElfSection& section) const;
  // At most `most` bytes of the file for an address, not beyond its segment's end; empty where the file has none. Needs
  // no sections.
  std::span<const uint8_t> bytes_at(uint64_t address, uint64_t most) const;
  // That of the whole file, as in .gnu_debuglink; empty if it cannot be read.
  std::optional<uint32_t> crc() const;
  // Call last: did the file stay the same since it was opened? The error is a sentence for the user.
  Result<> unchanged() const;
  // Time of the last write, CLOCK_REALTIME; 0: from memory.
  uint64_t written_ns() const { return version_.written_ns(); }
  // It ends before its section headers: it is being written, or damaged.
  bool is_cut() const { return copy_ && header_.e_shoff >= version_.size(); }
  // Some section claims more than the file contains, not counting holes.
  bool has_hollow_sections() const { return hollow_; }
  // The string at `offset` of string section `index`; null if it is outside or unterminated.
  const char* string(uint32_t section_index, size_t offset) const {
    return elf_strptr(elf_.get(), section_index, offset);
  }

  // Where code can be: executable sections, or executable segments if there are no sections.
  const std::vector<AddressRange>& code_ranges() const { return code_; }
  // Where anything can be: the PT_LOAD segments.
  const std::vector<AddressRange>& load_ranges() const { return load_; }

 private:
  struct EndElf {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  ElfFile() = default;
  Result<> read_headers(Kind kind);
  void read_sections();
  bool is_hollow(uint64_t offset, uint64_t size) const;
  std::span<const uint8_t> bytes_in_file(uint64_t offset, uint64_t count) const;
  void read_build_id();
  bool take_build_id(Elf_Data* notes);

  std::string path_;
  Fd fd_;                       // declared before elf_: libelf needs it until elf_end
  std::vector<uint8_t> bytes_;  // only from_memory
  FileVersion version_;         // not from_memory
  mutable std::unique_ptr<FileCopy> copy_;
  std::unique_ptr<Elf, EndElf> elf_;
  GElf_Ehdr header_{};
  BuildId build_id_;
  std::vector<ElfSection> sections_;
  std::vector<GElf_Phdr> segments_;
  std::vector<AddressRange> code_, load_;
  bool hollow_ = false;
};

// The one of `ranges` (sorted, disjoint) that contains the address; null if none does.
const AddressRange* range_of(const std::vector<AddressRange>& ranges, uint64_t address);

// "93ac61ec…" in lower case; empty for an empty id.
std::string build_id_text(std::span<const uint8_t> build_id);

}  // namespace penna

// SPDX-License-Identifier: MIT
// See sdt_notes.h. A note: owner "stapsdt", type 3; descriptor: pc, base, semaphore (address-size words in the file's
// byte order), then three zero-terminated strings.
#include "symbols/points/sdt_notes.h"

#include <algorithm>
#include <cstring>

namespace penna {
namespace {

constexpr uint32_t kSdtVersion = 3;

// Reads words and strings of a descriptor; ok() stays false after the first one that is missing.
class Descriptor {
 public:
  Descriptor(const ElfFile& file, std::span<const uint8_t> bytes)
      : bytes_(bytes),
        word_(file.header().e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8),
        big_endian_(file.header().e_ident[EI_DATA] == ELFDATA2MSB) {}

  uint64_t word() {
    if (bytes_.size() < word_) return fail();
    uint64_t value = 0;
    for (size_t i = 0; i < word_; ++i) value = value << 8 | bytes_[big_endian_ ? i : word_ - 1 - i];
    bytes_ = bytes_.subspan(word_);
    return value;
  }
  // Only printable ASCII: names are displayed, and no compiler makes others.
  std::string string() {
    auto end = std::find(bytes_.begin(), bytes_.end(), uint8_t{0});
    bool printable = std::all_of(bytes_.begin(), end, [](uint8_t c) { return c >= 0x20 && c < 0x7f; });
    if (end == bytes_.end() || !printable) {
      fail();
      return {};
    }
    std::string text(bytes_.begin(), end);
    bytes_ = bytes_.subspan(text.size() + 1);
    return text;
  }
  bool ok() const { return ok_; }

 private:
  uint64_t fail() {
    ok_ = false;
    bytes_ = {};
    return 0;
  }
  std::span<const uint8_t> bytes_;
  size_t word_;
  bool big_endian_;
  bool ok_ = true;
};

// Damaged notes are counted and skipped; the walk continues with the next, located by the note's header.
void read_section(const ElfFile& file, const ElfSection& section, uint64_t base_now, std::vector<SdtNote>* notes,
                  size_t* damaged) {
  Elf_Data* data = file.data(section);
  if (data == nullptr) return;
  GElf_Nhdr header;
  size_t name = 0, desc = 0;
  for (size_t at = 0; (at = ::gelf_getnote(data, at, &header, &name, &desc)) > 0;) {
    const auto* bytes = static_cast<const uint8_t*>(data->d_buf);
    // n_namesz includes the terminating zero.
    if (header.n_type != kSdtVersion || header.n_namesz != 8 || std::memcmp(bytes + name, "stapsdt", 8) != 0) continue;
    Descriptor from(file, {bytes + desc, header.n_descsz});
    SdtNote note;
    note.pc = note.noted_pc = from.word();
    note.base = from.word();
    note.semaphore = from.word();
    note.provider = from.string();
    note.name = from.string();
    note.args = from.string();
    if (!from.ok()) {
      ++*damaged;
      continue;
    }
    // Prelink moves code but not notes: the base section says how far.
    if (base_now != 0 && note.base != 0) {
      note.pc += base_now - note.base;
      if (note.semaphore != 0) note.semaphore += base_now - note.base;
    }
    notes->push_back(std::move(note));
  }
}

}  // namespace

std::vector<SdtNote> read_sdt_notes(const ElfFile& file, size_t* damaged) {
  std::vector<SdtNote> notes;
  size_t unread = 0;
  const ElfSection* base = file.section(".stapsdt.base");
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_NOTE || section.name != ".note.stapsdt") continue;
    read_section(file, section, base == nullptr ? 0 : base->address, &notes, &unread);
  }
  if (damaged != nullptr) *damaged = unread;
  return notes;
}

Result<std::vector<SdtNote>> read_sdt_notes(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file) return file.error();
  std::vector<SdtNote> notes = read_sdt_notes(*file);
  PENNA_TRY(file->unchanged());
  return notes;
}

}  // namespace penna

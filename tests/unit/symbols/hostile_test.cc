// SPDX-License-Identifier: MIT
// Damaged ELF files: cut, altered and made up. Nothing here may crash, hang or eat memory (run under ASan as well).
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "programs.h"
#include "symbols/sdt_lint.h"
#include "symbols/symbol_file.h"

namespace penna {
namespace {

// Everything that a report asks of a module. The number of answers, so that nothing is optimised away.
size_t use_all(std::vector<uint8_t> bytes) {
  auto file = SymbolFile::from_memory("hostile", std::move(bytes), {});
  if (!file) {
    EXPECT_FALSE(file.error().text.empty());
    return 0;
  }
  size_t answers = 0;
  auto functions = (*file)->functions();
  for (size_t i = 0; i < functions.size(); i += functions.size() / 40 + 1) {
    for (uint64_t address : {functions[i].start, functions[i].start + functions[i].size / 2}) {
      answers += (*file)->frames(address, false).size() + (*file)->frames(address, true).size();
      answers += (*file)->find(address).has_value() + (*file)->find_object(address).has_value();
    }
  }
  return answers + functions.size();
}

const std::vector<uint8_t>& sample() {
  static const std::vector<uint8_t> kBytes = test::read_bytes(test::build("gcc -O2 -g", "library.c -shared -fPIC"));
  return kBytes;
}

TEST(Hostile, CutAnywhere) {
  ASSERT_GT(use_all(sample()), 10u);
  for (size_t size = 0; size < sample().size(); size += sample().size() / 150) {
    use_all({sample().begin(), sample().begin() + static_cast<std::ptrdiff_t>(size)});
  }
}

TEST(Hostile, AlteredBytes) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 400; ++round) {
    auto bytes = sample();
    for (size_t i = 0, n = 1 + random() % 30; i < n; ++i) {
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    }
    use_all(std::move(bytes));
  }
}

// The tables that everything hangs on get the values that hurt most.
TEST(Hostile, AlteredHeaders) {
  std::mt19937_64 random(6);
  Elf64_Ehdr header;
  std::memcpy(&header, sample().data(), sizeof header);
  ASSERT_EQ(header.e_ident[EI_CLASS], ELFCLASS64);
  const uint64_t kNasty[] = {
      0, 1, 7, 0x7fffffff, 0x80000000, 0xffffffff, uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} >> 1};
  for (int round = 0; round < 600; ++round) {
    auto bytes = sample();
    size_t table = round % 3 == 0 ? sizeof header : size_t{header.e_shnum} * sizeof(Elf64_Shdr);
    size_t start = round % 3 == 0 ? 0 : header.e_shoff;
    uint64_t value = kNasty[random() % std::size(kNasty)];
    size_t width = size_t{1} << (1 + random() % 3);
    std::memcpy(bytes.data() + start + random() % (table - 8), &value, width);
    use_all(std::move(bytes));
  }
}

TEST(Hostile, AlteredDebugSections) {
  auto file = ElfFile::from_memory("sample", sample());
  ASSERT_TRUE(file.has_value());
  std::mt19937_64 random(8);
  for (const char* name : {".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists", ".debug_str", ".symtab",
                           ".strtab", ".debug_aranges", ".note.gnu.build-id", ".rela.plt", ".dynamic"}) {
    const ElfSection* section = file->section(name);
    if (section == nullptr) continue;
    auto raw = file->raw(*section);
    // from_memory copies the bytes: the place of the section is found by its offset in the copy.
    GElf_Shdr header;
    ASSERT_NE(::gelf_getshdr(::elf_getscn(file->handle(), section->index), &header), nullptr);
    for (int round = 0; round < 120; ++round) {
      auto bytes = sample();
      for (size_t i = 0, n = 1 + random() % 4; i < n; ++i) {
        bytes[header.sh_offset + random() % raw.size()] = static_cast<uint8_t>(random());
      }
      use_all(std::move(bytes));
    }
  }
}

TEST(Hostile, NotesOfAlteredFile) {
#if defined(__x86_64__)
  auto bytes = test::read_bytes(test::build("gcc", "assembly.S"));
  auto whole = ElfFile::from_memory("whole", bytes);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(read_sdt_notes(*whole).size(), 1u);
  GElf_Shdr header;
  const ElfSection* section = whole->section(".note.stapsdt");
  ASSERT_NE(section, nullptr);
  ASSERT_NE(::gelf_getshdr(::elf_getscn(whole->handle(), section->index), &header), nullptr);
  for (size_t i = 0; i < header.sh_size; ++i) {
    for (uint8_t value : std::initializer_list<uint8_t>{0x00, 0x01, 0x7f, 0xff}) {
      auto altered = bytes;
      altered[header.sh_offset + i] = value;
      auto file = ElfFile::from_memory("altered", altered);
      if (file) {
        EXPECT_LE(read_sdt_notes(*file).size(), 1u);
        EXPECT_LE(lint_sdt(*file).findings.size(), 20u);
      }
    }
  }
#endif
}

}  // namespace
}  // namespace penna

// SPDX-License-Identifier: MIT
// Damaged ELF files: cut, altered and synthetic. Nothing may crash, hang or exhaust memory (also run under ASan).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "penna/event.h"
#include "programs.h"
#include "symbols/dwarf/signature.h"
#include "symbols/points/sdt_lint.h"
#include "symbols/symbol_file.h"

namespace penna::hostile_test {
namespace {

const std::string& signature_sample() {
  static const std::string kPath = test::build("gcc -w -O1 -g -shared -fPIC", "values_c.c");
  return kPath;
}
const std::vector<test::ListedSymbol>& signature_functions() {
  static const auto kAll = [] {
    std::vector<test::ListedSymbol> all;
    for (auto& symbol : test::listed_symbols(signature_sample())) {
      if (symbol.type == "FUNC") all.push_back(symbol);
    }
    return all;
  }();
  return kAll;
}

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

// All that is asked of a module when its calls are recorded with values.
size_t use_signatures(std::vector<uint8_t> bytes) {
  auto file = ElfFile::from_memory("hostile", std::move(bytes));
  if (!file) return 0;
  auto signatures = Signatures::open(*file, {});
  if (!signatures) return 0;
  size_t answers = 0;
  for (const test::ListedSymbol& symbol : signature_functions()) {
    auto signature = (*signatures)->of(symbol.start);
    if (!signature) {
      EXPECT_FALSE(signature.error().text.empty());
      continue;
    }
    answers += signature->arguments.size() + signature->results.size();
    EXPECT_LE(signature->arguments.size(), size_t{PENNA_MAX_ARGS});
    for (const CapturedValue& value : signature->arguments) {
      EXPECT_LE(value.name.size(), 200u);
      EXPECT_LE(value.format.size(), 1100u);
      EXPECT_GE(value.where.place, PENNA_VALUE_INTEGER);
      EXPECT_LE(value.where.place, PENNA_VALUE_STACK);
    }
  }
  return answers;
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

TEST(Hostile, AlteredTypes) {
  const auto whole = test::read_bytes(signature_sample());
  auto file = ElfFile::from_memory("sample", whole);
  ASSERT_TRUE(file.has_value());
  ASSERT_GT(use_signatures(whole), 40u);
  std::mt19937_64 random(9);
  for (const char* name : {".debug_info", ".debug_abbrev", ".debug_loclists", ".debug_str", ".symtab"}) {
    const ElfSection* section = file->section(name);
    ASSERT_NE(section, nullptr) << name;
    GElf_Shdr header;
    ASSERT_NE(::gelf_getshdr(::elf_getscn(file->handle(), section->index), &header), nullptr);
    for (int round = 0; round < 100; ++round) {
      auto bytes = whole;
      for (size_t i = 0, n = 1 + random() % 4; i < n; ++i) {
        bytes[header.sh_offset + random() % header.sh_size] = static_cast<uint8_t>(random());
      }
      use_signatures(std::move(bytes));
    }
  }
}

// Types made by hand: each refers to itself, is deeper than any stack, or claims sizes that no memory has.
TEST(Hostile, TypesThatNeverEnd) {
  auto byte = [](int value) { return "  .byte " + std::to_string(value) + "\n"; };
  auto reference = [](const std::string& label) { return "  .long " + label + " - info\n"; };
  std::string info = "info:\n  .long info_end - version\nversion:\n  .short 4\n  .long 0\n  .byte 8\n";
  info += byte(1) + "  .byte 12\n  .quad f\n  .long 16\n";      // unit, C99
  info += byte(2) + "  .asciz \"f\"\n  .quad f\n  .long 16\n";  // function
  for (const char* type : {"to_inside", "to_wide", "inside", "wide0", "huge", "deep0", "array", "loop"})
    info += byte(3) + "  .asciz \"p\"\n" + reference(type);
  info += byte(0);
  info += "loop:\n" + byte(4) + reference("loop");                                         // typedef of itself
  info += "array:\n" + byte(5) + reference("array") + byte(6) + "  .quad -1\n" + byte(0);  // array of itself
  info += "inside:\n" + byte(7) + "  .quad 8\n" + byte(8) + reference("inside") + "  .quad 0\n" +
          byte(0);  // class with itself
  info += "huge:\n" + byte(7) + "  .quad -1\n" + byte(8) + reference("array") + "  .quad -8\n" + byte(0);
  info += "to_inside:\n" + byte(10) + reference("inside") + "to_wide:\n" + byte(10) + reference("wide0");
  for (int i = 0; i < 2000; ++i) {
    info += "deep" + std::to_string(i) + ":\n" + byte(4) + reference("deep" + std::to_string(i + 1));
  }
  info += "deep2000:\n" + byte(9) + "  .byte 4\n  .byte 5\n";
  // Thirty classes, each with two of the next: 2^30 fields.
  for (int i = 0; i < 30; ++i) {
    const std::string next = "wide" + std::to_string(i + 1);
    info += "wide" + std::to_string(i) + ":\n" + byte(7) + "  .quad 16\n" + byte(8) + reference(next) + "  .quad 0\n" +
            byte(8) + reference(next) + "  .quad 8\n" + byte(0);
  }
  info += "wide30:\n" + byte(9) + "  .byte 4\n  .byte 5\n" + byte(0) + "info_end:\n";
  const std::string abbreviations = R"(
  .uleb128 1, 0x11, 1, 0x13, 0x0b, 0x11, 0x01, 0x12, 0x06, 0, 0
  .uleb128 2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0
  .uleb128 3, 0x05, 0, 0x03, 0x08, 0x49, 0x13, 0, 0
  .uleb128 4, 0x16, 0, 0x49, 0x13, 0, 0
  .uleb128 5, 0x01, 1, 0x49, 0x13, 0, 0
  .uleb128 6, 0x21, 0, 0x37, 0x07, 0, 0
  .uleb128 7, 0x13, 1, 0x0b, 0x07, 0, 0
  .uleb128 8, 0x0d, 0, 0x49, 0x13, 0x38, 0x07, 0, 0
  .uleb128 9, 0x24, 0, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0
  .uleb128 10, 0x0f, 0, 0x49, 0x13, 0, 0
  .byte 0
)";
  const std::string path = test::build_text("gcc -x assembler -shared", "endless.s",
                                            ".text\n.globl f\n.type f, @function\nf:\n  .fill 16, 1, 0x90\n.size f, "
                                            "16\n.section .debug_info,\"\",@progbits\n" +
                                                info + ".section .debug_abbrev,\"\",@progbits\n" + abbreviations);
  auto file = ElfFile::open(path);
  ASSERT_TRUE(file.has_value());
  auto signatures = Signatures::open(*file, {});
  ASSERT_TRUE(signatures.has_value());
  auto signature = (*signatures)->of(test::address_of(path, "f"));
  ASSERT_FALSE(signature.has_value());
  EXPECT_THAT(signature.error().text, testing::HasSubstr("damaged or too large"));
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
}  // namespace penna::hostile_test

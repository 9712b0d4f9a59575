// SPDX-License-Identifier: MIT
// ELF files that are cut, rewritten and replaced while they are read. Mapping them raised SIGBUS here.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "programs.h"
#include "symbols/dwarf/signature.h"
#include "symbols/elf/elf_facts.h"
#include "symbols/points/sdt_lint.h"
#include "symbols/symbol_file.h"

namespace penna::changing_files_test {
namespace {

using testing::HasSubstr;

constexpr const char* kFlags = "g++ -std=c++17 -O2 -g";
constexpr const char* kOver = "_ZN6shapes4overEd";

void cut(const std::string& path, off_t size = 0) { ASSERT_EQ(::truncate(path.c_str(), size), 0); }

// In place, as cp does.
void rewrite(const std::string& path, const std::vector<uint8_t>& bytes) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  ASSERT_TRUE(fd);
  ASSERT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

std::string program(const std::string& name) { return test::copy_of(test::build(kFlags, "shapes.cc"), name); }

// Everything that the planners and reports read of a file.
void read_all(const ElfFile& file) {
  for (const ElfSection& section : file.sections()) {
    Elf_Data* data = file.data(section);
    GElf_Sym symbol;
    if (data != nullptr && data->d_type == ELF_T_SYM)
      for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) (void)file.string(section.link, symbol.st_name);
    size_t sum = 0;
    for (const uint8_t byte : file.raw(section)) sum += byte;
    for (const uint8_t byte : file.bytes_at(section.address, section.size)) sum += byte;
    EXPECT_LT(sum, SIZE_MAX);
  }
  (void)lint_sdt(file);
  (void)file.crc();
}

TEST(ChangingFiles, CutBehindOpening) {
  for (const off_t size : {0, 64, 5000}) {
    const std::string path = program("cut-" + std::to_string(size));
    auto file = ElfFile::open(path);
    ASSERT_TRUE(file.has_value());
    EXPECT_TRUE(file->unchanged());
    cut(path, size);
    read_all(*file);
    const Result<> same = file->unchanged();
    ASSERT_FALSE(same);
    EXPECT_THAT(same.error().text, HasSubstr(path + " changed while it was read"));
    EXPECT_EQ(file->data(*file->section_of_type(SHT_SYMTAB)), nullptr);
    EXPECT_TRUE(file->raw(*file->section(".text")).empty());
    EXPECT_FALSE(file->crc().has_value());
    EXPECT_FALSE(Signatures::open(*file, {}));
  }
}

TEST(ChangingFiles, WhatWasReadStays) {
  const std::string path = program("stays");
  auto file = ElfFile::open(path);
  ASSERT_TRUE(file.has_value());
  const ElfSection& text = *file->section(".text");
  const auto code = file->raw(text);
  const std::vector<uint8_t> before(code.begin(), code.end());
  std::vector<uint8_t> other = test::read_bytes(path);
  for (size_t i = text.offset; i < text.offset + text.size; ++i) other[i] ^= 0x55;
  rewrite(path, other);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), code.begin(), code.end()));
  EXPECT_EQ(file->data(*file->section_of_type(SHT_SYMTAB)), nullptr)
      << "the file changed: its data may be that of another file";
  auto again = ElfFile::open(path);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->unchanged());
  EXPECT_NE(std::memcmp(again->raw(*again->section(".text")).data(), before.data(), before.size()), 0);
}

TEST(ChangingFiles, AFileOfTheSameSizeAndTimeOfWritingIsToldToo) {
  const std::string path = program("quick");
  const auto bytes = test::read_bytes(path);
  for (int i = 0; i < 20; ++i) {
    rewrite(path, bytes);
    auto file = ElfFile::open(path);
    ASSERT_TRUE(file.has_value());
    rewrite(path, bytes);
    EXPECT_FALSE(file->unchanged()) << i;
  }
}

TEST(ChangingFiles, SymbolsThatAreReadKeepTheirNames) {
  const std::string path = program("symbols");
  const uint64_t over = test::address_of(path, kOver);
  auto file = SymbolFile::open({path, {}}, {});
  ASSERT_TRUE(file.has_value());
  cut(path);
  const auto frames = (*file)->frames(over, false);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().function, "shapes::over(double)");
  EXPECT_EQ((*file)->status().level, SymbolLevel::kSymbols);
  EXPECT_THAT((*file)->status().advice, HasSubstr("changed while it was read"));
  (void)(*file)->find_unnamed(over);
}

TEST(ChangingFiles, DebugInformationThatIsReadStays) {
  const std::string path = program("dwarf");
  const uint64_t over = test::address_of(path, kOver);
  auto file = SymbolFile::open({path, {}}, {});
  ASSERT_TRUE(file.has_value());
  (void)(*file)->frames(test::address_of(path, "main"), false);
  cut(path);
  const auto frames = (*file)->frames(over, false);
  ASSERT_FALSE(frames.empty());
  EXPECT_NE(frames.back().line, 0u);
  EXPECT_EQ((*file)->status().level, SymbolLevel::kDwarf);
}

// libdw opens these by itself.
TEST(ChangingFiles, SplitDebugInformation) {
  const std::string folder = test::tree() + "/dwo";
  test::make_directory(folder);
  test::write_bytes(folder + "/two.cc", {});
  test::run("cd " + folder +
            " && printf 'int one(int n) { return n * 3; }\\nint two(int n) { return one(n) + 1; }\\n"
            "int main() { return two(0); }\\n' > two.cc && g++ -O0 -g -gdwarf-5 -gsplit-dwarf two.cc -o two");
  auto file = SymbolFile::open({folder + "/two", {}}, {});
  ASSERT_TRUE(file.has_value());
  const auto first = (*file)->frames(test::address_of(folder + "/two", "_Z3onei"), false);
  ASSERT_FALSE(first.empty());
  test::run("cd " + folder + " && for one in *.dwo; do : > $one; done");
  const auto second = (*file)->frames(test::address_of(folder + "/two", "_Z3twoi"), false);
  ASSERT_FALSE(second.empty());
  EXPECT_EQ(second.back().function, "two(int)");
  EXPECT_EQ(second.back().line, 2u);
}

// Someone writes two builds over one another, and a half of either: an answer is right, or there is none.
TEST(ChangingFiles, RightNamesOrNone) {
  const std::string path = program("busy");
  const auto one = test::read_bytes(path);
  const auto other = test::read_bytes(test::build("g++ -std=c++17 -O0 -g", "shapes.cc"));
  const uint64_t over = test::address_of(path, kOver);
  auto whole = ElfFile::open(path);
  ASSERT_TRUE(whole.has_value() && !whole->build_id().empty());
  const BuildId id = whole->build_id();
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (size_t i = 0; !stop; ++i) {
      rewrite(path, i % 2 == 0 ? other : one);
      if (i % 3 == 0) cut(path, static_cast<off_t>(i * 997 % one.size()));
      std::this_thread::sleep_for(std::chrono::microseconds(i * 7919 % 60000));
    }
  });
  size_t answers = 0;
  for (int i = 0; i < 150; ++i) {
    (void)read_elf_facts(path);
    auto file = SymbolFile::open({path, id}, {});
    if (!file) {
      EXPECT_FALSE(file.error().text.empty());
      continue;
    }
    const auto frames = (*file)->frames(over, false);
    if (frames.empty()) {
      EXPECT_THAT((*file)->status().advice, HasSubstr("it is being written"));
    }
    for (const FrameName& frame : frames) EXPECT_EQ(frame.function, "shapes::over(double)");
    answers += frames.empty() ? 0 : 1;
  }
  stop = true;
  writer.join();
  rewrite(path, one);
  EXPECT_TRUE(SymbolFile::open({path, id}, {}).has_value()) << answers;
}

// A terabyte of nothing: what is claimed to lie in it is not read.
TEST(ChangingFiles, HollowSections) {
  const std::string path = program("hollow");
  std::vector<uint8_t> bytes = test::read_bytes(path);
  auto whole = ElfFile::open(path);
  ASSERT_TRUE(whole.has_value());
  constexpr off_t kHuge = off_t{1} << 40;
  for (const char* name :
       {".symtab", ".strtab", ".shstrtab", ".text", ".debug_info", ".debug_str", ".note.gnu.build-id"}) {
    SCOPED_TRACE(name);
    auto hollow = bytes;
    Elf64_Ehdr header;
    std::memcpy(&header, hollow.data(), sizeof header);
    const size_t index = whole->section(name)->index;
    const uint64_t size = kHuge - static_cast<off_t>(whole->section(name)->offset);
    std::memcpy(hollow.data() + header.e_shoff + index * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size), &size, 8);
    const std::string file_name = path + name;
    test::write_bytes(file_name, hollow);
    cut(file_name, kHuge);
    auto file = ElfFile::open(file_name);
    ASSERT_TRUE(file.has_value()) << file.error().text;
    EXPECT_TRUE(file->has_hollow_sections());
    EXPECT_EQ(file->data(*(file->sections().begin() + static_cast<std::ptrdiff_t>(index) - 1)), nullptr);
    for (const ElfSection& section : file->sections())
      if (section.size < uint64_t{1} << 30) (void)file->data(section), (void)file->raw(section);
    auto symbols = SymbolFile::open({file_name, {}}, {});
    if (symbols) (void)(*symbols)->frames(test::address_of(path, kOver), false);
    ::unlink(file_name.c_str());
  }
}

TEST(ChangingFiles, WholeFilesAreLoadedOfOneVersion) {
  const std::string path = test::tree() + "/load";
  const std::vector<uint8_t> a(300'000, 'a'), b(300'000, 'b');
  test::write_bytes(path, a);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (size_t i = 0; !stop; ++i) {
      rewrite(path, i % 2 == 0 ? b : a);
      std::this_thread::sleep_for(std::chrono::microseconds(i * 7919 % 60000));
    }
  });
  for (int i = 0; i < 100; ++i) {
    auto file = load_file(path);
    if (!file) {
      EXPECT_THAT(file.error().text, HasSubstr("changed while it was read"));
      continue;
    }
    const auto bytes = file->bytes();
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [&](uint8_t c) { return c == bytes[0]; }));
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace penna::changing_files_test

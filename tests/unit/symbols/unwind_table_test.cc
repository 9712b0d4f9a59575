// SPDX-License-Identifier: MIT
// Where functions begin and end, by unwind information, compared with the symbols of the same program.
#include "symbols/elf/unwind_table.h"

#include <gtest/gtest.h>

#include "programs.h"
#include "symbols/symbol_file.h"

namespace penna::unwind_table_test {
namespace {

using test::build;
using test::ListedSymbol;

class UnwindTables : public testing::TestWithParam<std::string> {};

TEST_P(UnwindTables, FunctionsAreWhereTheSymbolsAre) {
  const std::string path = build(GetParam(), "shapes.cc");
  auto file = ElfFile::open(path);
  ASSERT_TRUE(file.has_value());
  const UnwindTable table(*file);
  size_t checked = 0;
  for (const ListedSymbol& symbol : test::listed_symbols(path)) {
    // Those of the C library's start files are written in assembly, as a part of a longer one.
    if (symbol.type != "FUNC" || symbol.size == 0 || (symbol.name[0] == '_' && symbol.name[1] != 'Z')) continue;
    for (uint64_t address : {symbol.start, symbol.start + symbol.size / 2, symbol.start + symbol.size - 1}) {
      const auto range = table.function_at(address);
      ASSERT_TRUE(range.has_value()) << symbol.name;
      EXPECT_EQ(range->begin, symbol.start) << symbol.name;
      EXPECT_EQ(range->end, symbol.start + symbol.size) << symbol.name;
    }
    ++checked;
  }
  EXPECT_GT(checked, 3u);
  EXPECT_FALSE(table.function_at(0).has_value());
  EXPECT_FALSE(table.function_at(uint64_t{1} << 40).has_value());
}

TEST_P(UnwindTables, AreFoundInAStrippedProgram) {
  const std::string path = build(GetParam(), "shapes.cc");
  const std::string stripped = test::copy_of(path, "stripped_unwind_table");
  test::run("strip " + stripped);
  const uint64_t start = test::address_of(path, "_ZN6shapes4overEd");
  auto file = SymbolFile::open({stripped, {}}, {});
  ASSERT_TRUE(file.has_value());
  ASSERT_FALSE((*file)->find(start).has_value());
  const auto range = (*file)->find_unnamed(start + 1);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->begin, start);
}

INSTANTIATE_TEST_SUITE_P(OfCompilers, UnwindTables, testing::Values("g++ -O0 -g", "g++ -O2", "clang++ -O2 -no-pie"));

TEST(UnwindTable, OfAFileWithoutItHasNoFunctions) {
  const std::string path =
      test::build_text("gcc -O1 -nostdlib -fno-asynchronous-unwind-tables -fno-unwind-tables -Wl,--no-eh-frame-hdr",
                       "no_table.c", "void _start(void) { for (;;); }");
  auto file = ElfFile::open(path);
  ASSERT_TRUE(file.has_value());
  EXPECT_FALSE(UnwindTable(*file).function_at(test::address_of(path, "_start")).has_value());
}

// Whatever the table says, an answer holds the address: each word of it is wrong once.
TEST(UnwindTable, ThatIsDamagedGivesNoWrongAnswer) {
  const std::string path = build("g++ -O2", "shapes.cc");
  const std::vector<uint8_t> whole = test::read_bytes(path);
  auto intact = ElfFile::open(path);
  ASSERT_TRUE(intact.has_value());
  const ElfSection* header = intact->section(".eh_frame_hdr");
  ASSERT_NE(header, nullptr);
  const uint64_t start = test::address_of(path, "_ZN6shapes4overEd");
  const size_t at = static_cast<size_t>(intact->raw(*header).data() - intact->bytes_at(0, 1).data());
  for (size_t i = 0; i < header->size; i += 5) {
    std::vector<uint8_t> bytes = whole;
    bytes[at + i] ^= 0x95;
    auto file = ElfFile::from_memory("damaged", bytes);
    if (!file) continue;
    const auto range = UnwindTable(*file).function_at(start);
    EXPECT_TRUE(!range || range->contains(start)) << i;
  }
}

}  // namespace
}  // namespace penna::unwind_table_test

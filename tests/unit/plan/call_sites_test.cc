// SPDX-License-Identifier: MIT
// find_call_sites(): on files as gcc and clang write them, and on files whose tables lie.
#include "plan/call_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "symbols/programs.h"
#include "symbols/symbol_file.h"

namespace penna::call_sites_test {
namespace {

using test::build_text, test::ListedSymbol, test::listed_symbols, test::read_bytes;

constexpr const char* kThree =
    "__attribute__((noinline)) long first(long n) { return n + 1; }\n"
    "__attribute__((noinline)) long second(long n) { return first(n) * 3; }\n"
    "int main(int argc, char** argv) { (void)argv; return (int)second(argc); }\n";

// A name of its own for a program.
std::string numbered(const std::string& name) {
  static int number;
  return name + std::to_string(++number) + ".c";
}

std::vector<uint64_t> starts_of(const std::string& path) {
  std::vector<uint64_t> starts;
  for (const ListedSymbol& symbol : listed_symbols(path))
    if (symbol.type == "FUNC" && symbol.size != 0) starts.push_back(symbol.start);
  std::sort(starts.begin(), starts.end());
  return starts;
}

uint64_t start_of(const std::string& path, const std::string& name) {
  for (const ListedSymbol& symbol : listed_symbols(path))
    if (symbol.name == name) return symbol.start;
  return 0;
}

struct Found {
  std::string path;
  CallSites all;
  const CallSite* of(const std::string& name) const {
    const uint64_t start = start_of(path, name);
    const auto site =
        std::find_if(all.sites.begin(), all.sites.end(), [&](auto& each) { return each.function == start; });
    return site == all.sites.end() ? nullptr : &*site;
  }
};

Found found_in(const std::string& compiler, const std::string& name) {
  Found found{build_text(compiler, numbered(name), kThree), {}};
  auto file = ElfFile::open(found.path);
  EXPECT_TRUE(file) << found.path;
  if (file) found.all = find_call_sites(*file, starts_of(found.path));
  return found;
}

void expect_three(const Found& found, CallSiteKind kind, uint64_t into) {
  EXPECT_EQ(found.all.sites.size(), 3u) << found.path;
  EXPECT_EQ(found.all.too_short, 0u);
  for (const char* name : {"first", "second", "main"}) {
    const CallSite* site = found.of(name);
    ASSERT_NE(site, nullptr) << name << " of " << found.path;
    EXPECT_EQ(site->place - site->function, into) << name;
    EXPECT_EQ(site->kind, kind);
  }
}

TEST(CallSites, OfEachCompilerOption) {
  expect_three(found_in("gcc -O1 -fpatchable-function-entry=5", "p5"), CallSiteKind::kNops, 0);
  expect_three(found_in("gcc -O1 -fpatchable-function-entry=8,3", "p83"), CallSiteKind::kNops, 0);
  expect_three(found_in("gcc -O1 -fpatchable-function-entry=8,3 -fcf-protection", "p83cet"), CallSiteKind::kNops, 4);
  expect_three(found_in("gcc -O1 -fpatchable-function-entry=5 -no-pie -fno-pie", "p5fixed"), CallSiteKind::kNops, 0);
  expect_three(found_in("clang -O1 -fpatchable-function-entry=5", "p5clang"), CallSiteKind::kNops, 0);
  expect_three(found_in("clang -O1 -fxray-instrument -fxray-instruction-threshold=1", "xray"), CallSiteKind::kSled, 0);
  expect_three(found_in("gcc -O1 -pg -mfentry -mnop-mcount -no-pie -fno-pie", "nops"), CallSiteKind::kNops, 0);
  expect_three(found_in("gcc -O1 -pg -mfentry -mnop-mcount -mrecord-mcount -no-pie -fno-pie", "listed"),
               CallSiteKind::kNops, 0);
}

TEST(CallSites, StrippedFilesHaveTheirTables) {
  for (const char* option : {"gcc -s -O1 -fpatchable-function-entry=5", "clang -s -O1 -fpatchable-function-entry=5"}) {
    const std::string path = build_text(option, numbered("stripped"), kThree);
    auto file = ElfFile::open(path);
    ASSERT_TRUE(file);
    EXPECT_EQ(find_call_sites(*file, {}).sites.size(), 3u) << option;
  }
}

TEST(CallSites, NopsWithoutRoomAreCounted) {
  const Found found = found_in("gcc -O1 -fpatchable-function-entry=4", "p4");
  EXPECT_EQ(found.all.sites.size(), 0u);
  EXPECT_EQ(found.all.too_short, 3u);
}

TEST(CallSites, NoneWhereACompilerHasLeftNone) {
  for (const char* options : {"gcc -O1", "gcc -O1 -pg -mfentry", "gcc -O1 -finstrument-functions", "clang -O1 -pg"})
    EXPECT_EQ(found_in(options, "none").all.sites.size(), 0u) << options;
}

// What find_call_sites() promises, whatever the file says.
void expect_sound(const ElfFile& file, const CallSites& found) {
  const CallSite* before = nullptr;
  for (const CallSite& site : found.sites) {
    const auto& code = file.code_ranges();
    const bool inside = std::any_of(code.begin(), code.end(), [&](const AddressRange& range) {
      return site.place >= range.begin && site.place < range.end;
    });
    EXPECT_TRUE(inside) << std::hex << site.place;
    const auto bytes = file.bytes_at(site.place, 11);
    const size_t size = site.kind == CallSiteKind::kSled ? 11 : 5;
    ASSERT_GE(bytes.size(), size);
    EXPECT_EQ(std::memcmp(bytes.data(), site.before.data(), size), 0);
    EXPECT_TRUE(before == nullptr || before->place < site.place);
    before = &site;
  }
}

// Where in the file a section's bytes are.
size_t offset_of(const ElfFile& file, const ElfSection& section) {
  GElf_Shdr header;
  Elf_Scn* scn = ::elf_getscn(file.handle(), section.index);
  return ::gelf_getshdr(scn, &header) != nullptr ? header.sh_offset : 0;
}

TEST(CallSites, TablesThatLie) {
  struct {
    const char *options, *table;
  } const ways[] = {{"gcc -O1 -fpatchable-function-entry=5 -no-pie -fno-pie", "__patchable_function_entries"},
                    {"gcc -O1 -fpatchable-function-entry=5", ".rela.dyn"},
                    {"clang -O1 -fxray-instrument -fxray-instruction-threshold=1", "xray_instr_map"},
                    {"gcc -O1 -pg -mfentry -mnop-mcount -mrecord-mcount -no-pie -fno-pie", "__mcount_loc"}};
  std::mt19937_64 random(11);
  for (const auto& way : ways) {
    const std::string path = build_text(way.options, numbered("lies"), kThree);
    const std::vector<uint8_t> bytes = read_bytes(path);
    const std::vector<uint64_t> starts = starts_of(path);
    auto whole = ElfFile::open(path);
    ASSERT_TRUE(whole);
    const ElfSection* table = whole->section(way.table);
    ASSERT_NE(table, nullptr) << way.table;
    const size_t at = offset_of(*whole, *table);
    for (int round = 0; round < 400; ++round) {
      std::vector<uint8_t> changed = bytes;
      const uint64_t interesting[] = {0,        UINT64_MAX,    uint64_t{1} << 63, starts[0] - 3, starts[0] + 1,
                                      random(), random() >> 32};
      const size_t words = table->size / 8;
      for (int word = 0; word < 3; ++word)
        std::memcpy(&changed[at + random() % words * 8], &interesting[random() % std::size(interesting)], 8);
      auto file = ElfFile::from_memory("lies", std::move(changed));
      ASSERT_TRUE(file);
      expect_sound(*file, find_call_sites(*file, starts));
    }
  }
}

// As where clang has no XRay to link with: the test fails with what the compiler said, it does not die.
TEST(CallSites, ProgramsThatCannotBeBuiltEndTheirTest) {
  EXPECT_NONFATAL_FAILURE(
      EXPECT_THROW(build_text("clang -nostdlib -Wl,--no-such-option", "no_program", kThree), std::runtime_error),
      "no-such-option");
  EXPECT_NONFATAL_FAILURE(EXPECT_THROW(test::build("clang --no-such-option", "none.c"), std::runtime_error),
                          "no-such-option");
}

// Any byte of headers, section headers and tables: errors or sound places, never worse.
TEST(CallSites, FilesThatLie) {
  std::mt19937_64 random(12);
  for (const char* options :
       {"gcc -O1 -fpatchable-function-entry=8,3", "clang -O1 -fxray-instrument -fxray-instruction-threshold=1"}) {
    const std::string path = build_text(options, numbered("damaged"), kThree);
    const std::vector<uint8_t> bytes = read_bytes(path);
    std::vector<uint64_t> starts = starts_of(path);
    starts.insert(starts.begin(), 0);
    starts.push_back(UINT64_MAX);
    for (int round = 0; round < 1000; ++round) {
      std::vector<uint8_t> changed = bytes;
      for (int i = 0; i < 8; ++i) {
        const size_t from = round % 2 == 0 ? changed.size() - changed.size() / 6 : 0;  // section headers; all
        changed[from + random() % (changed.size() - from)] = static_cast<uint8_t>(random());
      }
      if (round % 5 == 0) changed.resize(changed.size() - random() % changed.size() / 2);
      if (auto file = ElfFile::from_memory("damaged", std::move(changed)))
        expect_sound(*file, find_call_sites(*file, starts));
    }
  }
}

}  // namespace
}  // namespace penna::call_sites_test

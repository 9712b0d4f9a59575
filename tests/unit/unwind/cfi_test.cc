// SPDX-License-Identifier: MIT
// The CFI parser compared with readelf, on every row of every FDE of real libraries, and on damaged bytes.
#include "unwind/cfi.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include "elf_cfi.h"
#include "unwind/arch.h"
#include "unwind/module.h"

namespace penna::unwind {
namespace {

std::vector<std::string> real_files() {
  std::vector<std::string> files = {std::filesystem::canonical("/proc/self/exe").string()};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        if (info->dlpi_name[0] == '/') static_cast<std::vector<std::string>*>(out)->push_back(info->dlpi_name);
        return 0;
      },
      &files);
  for (const char* path :
       {"/usr/bin/python3", "/usr/bin/perl", "/usr/bin/gdb", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"})
    if (std::filesystem::exists(path)) files.push_back(path);
  return files;
}

// One row of `readelf --debug-dump=frames-interp`: the values of the CFA, rbp and ra columns.
struct ListedRow {
  uint64_t pc;
  std::string cfa, fp = "u", ra;
};

// Reads readelf's output into rows; the row of each FDE's own pc is always there.
std::vector<ListedRow> readelf_rows(const std::string& path) {
  std::vector<ListedRow> rows;
  FILE* pipe = popen(("readelf --debug-dump=frames-interp '" + path + "' 2>/dev/null").c_str(), "r");
  if (!pipe) return rows;
  char* line = nullptr;
  size_t size = 0;
  std::vector<std::string> columns;
  bool in_fde = false;
  while (getline(&line, &size, pipe) > 0) {
    std::istringstream text(line);
    std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
    if (words.empty()) continue;
    if (words[0] == "LOC") {
      columns = words;
    } else if (words.size() > 3 && (words[3] == "FDE" || words[3] == "CIE")) {
      in_fde = words[3] == "FDE";
      columns.clear();
    } else if (in_fde && columns.size() == words.size() && words[0].size() == 16) {
      ListedRow row;
      row.pc = std::stoull(words[0], nullptr, 16);
      for (size_t i = 1; i < columns.size(); ++i) {
        if (columns[i] == "CFA") row.cfa = words[i];
        if (columns[i] == "rbp") row.fp = words[i];
        if (columns[i] == "ra") row.ra = words[i];
      }
      rows.push_back(row);
    }
  }
  free(line);
  pclose(pipe);
  return rows;
}

// What readelf would print for our rule, where both can say it; "" where the row holds an expression.
std::string cfa_text(const FrameRule& rule) {
  const std::string reg = (rule.flags & FrameRule::kBaseFp) ? "rbp" : "rsp";
  return reg + (rule.cfa_offset < 0 ? "" : "+") + std::to_string(rule.cfa_offset);
}
std::string fp_text(const FrameRule& rule) {
  if (rule.flags & FrameRule::kFpAtCfa)
    return "c" + std::string(rule.fp_offset < 0 ? "" : "+") + std::to_string(rule.fp_offset);
  return "u";
}

struct Tally {
  size_t rows = 0, equal = 0, expressions = 0, unsupported = 0, different = 0;
};

void compare(const FrameRule& rule, const ListedRow& row, Tally& tally) {
  ++tally.rows;
  const bool expression = row.cfa == "exp" || row.fp == "exp" || row.ra == "exp";
  if (row.ra == "u") {
    tally.equal += rule.is(FrameRule::kEnd);
    tally.different += !rule.is(FrameRule::kEnd);
  } else if (expression) {
    ++tally.expressions;
  } else if (rule.is(FrameRule::kUnsupported)) {
    // Only where the CFA is not on rsp or rbp, or where the return address is not at CFA - 8.
    const bool justified = (row.cfa.rfind("rsp", 0) != 0 && row.cfa.rfind("rbp", 0) != 0) || row.ra != "c-8";
    ++(justified ? tally.unsupported : tally.different);
  } else {
    // A register that holds the caller's rbp is not followed: then rbp is lost, which readelf shows as that register.
    const bool lost = (rule.flags & FrameRule::kFpLost) != 0;
    const bool same_fp = lost ? row.fp[0] != 'c' : fp_text(rule) == row.fp || (row.fp == "s" && rule.keeps_fp());
    const bool same = !rule.is_special() && cfa_text(rule) == row.cfa && same_fp && row.ra == "c-8";
    ++(same ? tally.equal : tally.different);
    if (!same && tally.different < 5)
      ADD_FAILURE() << std::hex << row.pc << ": ours " << cfa_text(rule) << " " << fp_text(rule) << " flags "
                    << int{rule.flags} << ", readelf " << row.cfa << " " << row.fp << " " << row.ra;
  }
}

TEST(Cfi, EveryRowAgreesWithReadelf) {
  size_t files = 0;
  for (const std::string& path : real_files()) {
    const ElfCfi elf(path);
    if (elf.eh_frame.frame.size == 0) continue;
    Tally tally;
    std::vector<ListedRow> rows = readelf_rows(path);
    for (size_t i = 0; i < rows.size(); ++i) {
      // readelf prints several rows for one pc when an instruction takes no space: the last one holds.
      if (i + 1 < rows.size() && rows[i + 1].pc == rows[i].pc) continue;
      compare(rule_at(elf.eh_frame, rows[i].pc), rows[i], tally);
    }
    std::printf("%-60s %7zu rows: %zu equal, %zu with expressions, %zu unsupported, %zu different\n", path.c_str(),
                tally.rows, tally.equal, tally.expressions, tally.unsupported, tally.different);
    EXPECT_EQ(tally.different, 0U) << path;
    EXPECT_GT(tally.rows, 0U) << path;
    EXPECT_LT(tally.unsupported * 50, tally.rows) << path;
    ++files;
  }
  EXPECT_GE(files, 4U);
}

// All FDEs, by the sorted table and by reading the entries one after the other: the same rules.
TEST(Cfi, TableAndScanAgree) {
  const ElfCfi elf("/proc/self/exe");
  EhFrame no_header = elf.eh_frame;
  no_header.header = {};
  uint64_t address = elf.eh_frame.frame.address, next = 0;
  size_t fdes = 0;
  for (Fde fde;; address = next) {
    const Entry entry = read_entry(elf.eh_frame.frame, address, fde, next);
    if (entry == Entry::terminator) break;
    ASSERT_NE(entry, Entry::bad) << std::hex << address;
    if (entry != Entry::fde || fdes++ % 16 != 0) continue;
    for (uint64_t pc : {fde.begin, (fde.begin + fde.end) / 2, fde.end - 1})
      ASSERT_EQ(rule_at(elf.eh_frame, pc), rule_at(no_header, pc)) << std::hex << pc;
  }
  EXPECT_GT(fdes, 100U);
}

TEST(Cfi, LoadedModulesGiveTheRulesOfTheirFiles) {
  size_t compared = 0;
  for (const char* symbol : {"malloc", "qsort", "printf", "pthread_create"}) {
    void* function = dlsym(RTLD_DEFAULT, symbol);
    Dl_info info{};
    ASSERT_TRUE(function && dladdr(function, &info));
    const ElfCfi elf(info.dli_fname != nullptr ? info.dli_fname : "");
    const auto pc = reinterpret_cast<uintptr_t>(function), base = reinterpret_cast<uintptr_t>(info.dli_fbase);
    for (uintptr_t at = pc; at < pc + 64; ++at) {
      const FrameRule in_file = rule_at(elf.eh_frame, at - base);
      if (in_file.is(FrameRule::kNone)) continue;  // between functions: rule_of_pc() may know an end of stack there
      ASSERT_EQ(rule_of_pc(at), in_file) << symbol << "+" << at - pc;
      ++compared;
    }
  }
  EXPECT_GT(compared, 128U);
}

TEST(Cfi, PcOutsideOfAllModulesHasNoRule) {
  for (uintptr_t pc :
       {uintptr_t{0}, uintptr_t{1}, uintptr_t{4096}, ~uintptr_t{0}, uintptr_t{1} << 47, uintptr_t{0x7fff00000000}})
    EXPECT_TRUE(rule_of_pc(pc).is(FrameRule::kNone)) << pc;
  static char data[64];
  EXPECT_TRUE(rule_of_pc(reinterpret_cast<uintptr_t>(data)).is(FrameRule::kNone));
}

TEST(Cfi, SignalTrampolineIsKnown) {
  // glibc's restorer begins with "mov $15, %rax; syscall" and is marked with the 'S' augmentation.
  const ElfCfi elf("/lib/x86_64-linux-gnu/libc.so.6");
  uint64_t address = elf.eh_frame.frame.address, next = 0;
  size_t found = 0;
  for (Fde fde;; address = next) {
    const Entry entry = read_entry(elf.eh_frame.frame, address, fde, next);
    if (entry == Entry::terminator) break;
    if (entry == Entry::fde && fde.cie.signal_frame)
      found += rule_at(elf.eh_frame, fde.begin + 1).is(FrameRule::kSignal);
  }
  EXPECT_EQ(found, 1U);
}

// The PLT's rule depends on the pc alone: (pc & 15) >= 11 adds a word.
TEST(Cfi, PltExpressionIsFollowed) {
  const ElfCfi elf("/usr/bin/python3");
  ASSERT_NE(elf.eh_frame.frame.size, 0u) << "/usr/bin/python3 is missing";
  uint64_t address = elf.eh_frame.frame.address, next = 0;
  size_t found = 0;
  for (Fde fde;; address = next) {
    const Entry entry = read_entry(elf.eh_frame.frame, address, fde, next);
    if (entry == Entry::terminator) break;
    if (entry != Entry::fde || fde.end - fde.begin < 48 || fde.begin % 16 != 0) continue;
    const FrameRule at0 = rule_at(elf.eh_frame, fde.begin + 16), at11 = rule_at(elf.eh_frame, fde.begin + 16 + 11);
    found += at0 == FrameRule{0, 8, 0} && at11 == FrameRule{0, 16, 0} &&
             rule_at(elf.eh_frame, fde.begin + 32 + 10) == at0 && rule_at(elf.eh_frame, fde.begin + 32 + 15) == at11;
  }
  EXPECT_GE(found, 1U);
}

// The words between sp and CFA at each instruction of PLTs that have no CFI, as lld and mold write them.
TEST(Cfi, PltStubsAreKnownByTheirCode) {
  const std::vector<uint8_t> lazy = {
      0xff, 0x35, 1, 2, 0, 0, 0xff, 0x25, 3, 2, 0, 0,    0x0f, 0x1f, 0x40, 0,  // push; jmp; nopl
      0xff, 0x25, 5, 2, 0, 0, 0x68, 0,    0, 0, 0, 0xe9, 0xe0, 0xff, 0xff, 0xff};
  const std::vector<uint8_t> marked = {
      0xff, 0x35, 1,    2,    0,    0, 0xf2, 0xff, 0x25, 3,    2,    0,    0,    0x0f, 0x1f, 0,  // push; bnd jmp; nopl
      0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0, 0,    0,    0,    0xe9, 0xe2, 0xff, 0xff, 0xff, 0x66, 0x90, 0xf3,
      0x0f, 0x1e, 0xfa, 0xff, 0x25, 5, 2,    0,    0,    0x66, 0x0f, 0x1f, 0x44, 0,    0};
  const auto words = [](const std::vector<uint8_t>& code, int pc) {
    return cfa_of_plt_stub([&](int offset) -> int {
             const size_t at = static_cast<size_t>(pc) + static_cast<size_t>(offset);
             return at < code.size() ? code[at] : 0;
           }) /
           8;
  };
  const std::map<int, int> of_lazy = {{0, 2}, {6, 3}, {12, 0}, {16, 1}, {22, 1}, {27, 2}};
  const std::map<int, int> of_marked = {{0, 2}, {6, 3}, {13, 0}, {16, 1}, {20, 1}, {25, 2}, {30, 0}, {32, 1}, {36, 1}};
  for (const auto& [pc, expected] : of_lazy) EXPECT_EQ(words(lazy, pc), expected) << "lazy, " << pc;
  for (const auto& [pc, expected] : of_marked) EXPECT_EQ(words(marked, pc), expected) << "with IBT, " << pc;
  EXPECT_EQ(words({0x68, 1, 0, 0, 0, 0xc3}, 0), 0) << "a push of a constant that is not a stub's";
}

// Every function that has CFI.
std::vector<Fde> functions_of(const EhFrame& eh_frame) {
  std::vector<Fde> all;
  uint64_t address = eh_frame.frame.address, next = 0;
  for (Fde fde;; address = next) {
    const Entry entry = read_entry(eh_frame.frame, address, fde, next);
    if (entry == Entry::terminator) return all;
    if (entry == Entry::fde && fde.end > fde.begin) all.push_back(fde);
  }
}

// Damaged bytes on exact heap blocks: run under AddressSanitizer this proves that nothing outside is read.
TEST(Cfi, DamagedSectionsNeverReadOutside) {
  const ElfCfi elf("/proc/self/exe");
  std::mt19937_64 random(11);
  const EhFrame& whole = elf.eh_frame;
  const std::vector<Fde> functions = functions_of(whole);
  ASSERT_GT(functions.size(), 100U);
  size_t rules = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint8_t> header(whole.header.data, whole.header.data + whole.header.size);
    std::vector<uint8_t> frame(whole.frame.data, whole.frame.data + whole.frame.size);
    header.resize(random() % 4 ? header.size() : random() % header.size() + 1);
    frame.resize(random() % 4 ? frame.size() : random() % frame.size() + 1);
    header.shrink_to_fit();
    frame.shrink_to_fit();
    for (int i = 0; i < 64; ++i) frame[random() % frame.size()] = static_cast<uint8_t>(random());
    for (int i = 0; i < 4; ++i)
      header[random() % std::min<size_t>(header.size(), i < 2 ? 16 : header.size())] ^= static_cast<uint8_t>(random());
    const EhFrame damaged{{header.data(), round % 3 ? header.size() : 0, whole.header.address},
                          {frame.data(), frame.size(), whole.frame.address}};
    for (int i = 0; i < (round % 3 ? 40 : 2); ++i) {
      const Fde& function = functions[random() % functions.size()];
      const uint64_t pc = function.begin + random() % (function.end - function.begin);
      rules += !rule_at(damaged, pc).is(FrameRule::kNone);
    }
  }
  EXPECT_GT(rules, 1000U);
}

}  // namespace
}  // namespace penna::unwind

// SPDX-License-Identifier: MIT
// Inlined calls and lines of optimized programs, compared with the addr2line of binutils and of LLVM.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "programs.h"
#include "symbols/symbol_file.h"

namespace penna::frames_test {
namespace {

std::unique_ptr<SymbolFile> open(const std::string& path) {
  auto file = SymbolFile::open({path, {}}, {});
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().text);
  return file ? std::move(*file) : nullptr;
}

std::string last_part(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// The function's own word: no return type, scope, arguments, version or clone.
std::string core_name(std::string_view name) {
  std::string text(name.substr(0, name.find('@')));
  constexpr std::string_view kLess = "operator<<";  // LLVM leaves out the blank of "operator< <char>"
  const size_t sign = text.find(kLess), behind = sign + kLess.size();
  if (sign != std::string::npos && behind < text.size() && (std::isalpha(text[behind]) != 0 || text[behind] == '_'))
    text.insert(behind - 1, " ");
  std::string simple = simple_name(text);
  size_t scope = simple.rfind("::");
  simple = scope == std::string::npos ? simple : simple.substr(scope + 2);
  return simple.substr(0, simple.find('.'));
}

// The tools differ in how much they say ("sort<int*, …>" and "std::sort", "main.cold" and "main"), not in what is meant.
// Names that the C++ runtime cannot read, as clang 19's of packs, are shown as they are: LLVM can read them.
bool same_function(std::string_view ours, const std::string& theirs) {
  return ours == theirs || ours.starts_with("_Z") || core_name(ours) == core_name(theirs);
}

struct Differences {
  size_t compared = 0, count = 0, line = 0, file = 0, function = 0;
  std::string first;
};

Differences compare(SymbolFile* file, const std::string& path, const std::string& tool,
                    const std::vector<uint64_t>& pcs) {
  auto reference = test::addr2line(tool, path, pcs);
  std::multimap<uint64_t, std::string> aliases;
  for (const auto& symbol : test::listed_symbols(path)) aliases.emplace(symbol.start, symbol.name);
  // Which of the names of one address is shown differs (malloc, __libc_malloc).
  auto is_alias = [&](uint64_t pc, const std::string& name) {
    auto symbol = file->find(pc);
    if (!symbol) return false;
    auto [begin, end] = aliases.equal_range(symbol->start);
    return std::any_of(begin, end, [&](const auto& alias) { return alias.second == name.substr(0, name.find('@')); });
  };
  Differences result;
  for (const auto& [pc, theirs] : reference) {
    if (theirs.empty() || theirs[0].line == 0) continue;  // they do not know
    auto ours = file->frames(pc, false);
    ++result.compared;
    size_t before = result.count + result.line + result.file + result.function;
    if (ours.size() != theirs.size()) {
      ++result.count;
    } else {
      bool line = true, place = true, function = true;
      for (size_t i = 0; i < ours.size(); ++i) {
        line &= ours[i].line == theirs[i].line;
        place &= last_part(ours[i].file) == theirs[i].file;
        bool last = i + 1 == ours.size();
        // binutils shows the real function's name for an inlined one without linkage name, when that is innermost.
        function &= same_function(ours[i].function, theirs[i].function) || (last && is_alias(pc, theirs[i].function)) ||
                    (i == 0 && same_function(ours.back().function, theirs[0].function));
        EXPECT_EQ(ours[i].inlined, i + 1 < ours.size());
      }
      result.line += !line;
      result.file += !place;
      result.function += !function;
    }
    if (result.count + result.line + result.file + result.function == before || !result.first.empty()) continue;
    std::ostringstream text;
    text << std::hex << pc << std::dec << "\nours:\n";
    for (const auto& frame : ours) text << "  " << frame.function << " " << frame.file << ":" << frame.line << "\n";
    text << "theirs:\n";
    for (const auto& frame : theirs) text << "  " << frame.function << " " << frame.file << ":" << frame.line << "\n";
    result.first = text.str();
  }
  return result;
}

// `unsure_files`: for so many per cent of the addresses the tool takes the file that stands first in the unit's table,
// which never has such a line.
void expect_agreement(const std::string& tool, const std::string& flags, bool functions_too, size_t unsure_files = 0) {
  std::string path = test::build(flags, "shapes.cc");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->status().level, SymbolLevel::kDwarf);
  auto result = compare(file.get(), path, tool, test::random_pcs(path, 1000));
  EXPECT_GT(result.compared, 400u);
  EXPECT_EQ(result.count, 0u) << result.first;
  EXPECT_EQ(result.line, 0u) << result.first;
  EXPECT_LE(result.file, result.compared * unsure_files / 100) << result.first;
  if (functions_too) {
    EXPECT_EQ(result.function, 0u) << result.first;
  }
}

TEST(Frames, GccDwarf5LikeBinutils) { expect_agreement("addr2line", "g++ -std=c++17 -O2 -g -gdwarf-5", true); }
TEST(Frames, GccDwarf4LikeBinutils) { expect_agreement("addr2line", "g++ -std=c++17 -O2 -g -gdwarf-4 -no-pie", true); }
TEST(Frames, GccUnoptimisedLikeBinutils) { expect_agreement("addr2line", "g++ -std=c++17 -O0 -g", true, 2); }
TEST(Frames, GccCompressedLikeBinutils) { expect_agreement("addr2line", "g++ -std=c++17 -O3 -g -gz", true); }

TEST(Frames, ClangDwarf4LikeBinutils) {
  ASSERT_TRUE(test::has_command("clang++"));
  expect_agreement("addr2line", "clang++ -std=c++17 -O2 -g -gdwarf-4", true);
}

// binutils 2.40 loses inlined calls whose ranges are DW_FORM_rnglistx; LLVM's does not.
TEST(Frames, ClangDwarf5LikeLlvm) {
  ASSERT_TRUE(test::has_command("clang++") && test::has_command("llvm-addr2line"));
  expect_agreement("llvm-addr2line", "clang++ -std=c++17 -O2 -g -gdwarf-5", true);
}
TEST(Frames, GccDwarf5LikeLlvm) {
  ASSERT_TRUE(test::has_command("llvm-addr2line"));
  // LLVM writes gcc's lambdas in its own way: only places are compared.
  expect_agreement("llvm-addr2line", "g++ -std=c++17 -O2 -g -gdwarf-5", false);
}
TEST(Frames, ClangWithLinkTimeOptimisationAndGarbageCollection) {
  ASSERT_TRUE(test::has_command("clang++") && test::has_command("ld.lld") && test::has_command("llvm-addr2line"));
  expect_agreement("llvm-addr2line",
                   "clang++ -std=c++17 -O2 -g -flto -fuse-ld=lld -ffunction-sections -Wl,--gc-sections", true);
}
TEST(Frames, GccWithLinkTimeOptimisation) { expect_agreement("addr2line", "g++ -std=c++17 -O2 -g -flto=1", true, 10); }

TEST(Frames, ChainOfThreeInlinedCalls) {
  std::string path = test::build("g++ -std=c++17 -O2 -g -gdwarf-5", "shapes.cc");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  auto symbols = test::listed_symbols(path);
  auto main = std::find_if(symbols.begin(), symbols.end(), [](const auto& s) { return s.name == "main"; });
  ASSERT_NE(main, symbols.end());
  size_t longest = 0;
  for (uint64_t pc = main->start; pc < main->start + main->size; ++pc) {
    auto frames = file->frames(pc, false);
    ASSERT_FALSE(frames.empty());
    EXPECT_EQ(frames.back().function, "main");
    auto at = [&](size_t i) { return frames[i].function; };
    for (size_t i = 0; i + 3 < frames.size(); ++i) {
      if (at(i).find("deep3") == std::string_view::npos) continue;
      EXPECT_NE(at(i + 1).find("deep2"), std::string_view::npos);
      EXPECT_NE(at(i + 2).find("deep1"), std::string_view::npos);
      EXPECT_EQ(at(i + 3), "main");
      EXPECT_EQ(last_part(frames[i].file), "shapes.cc");
      longest = std::max(longest, frames.size());
    }
  }
  EXPECT_GE(longest, 4u) << "the compiler inlined deep3 <- deep2 <- deep1 <- main nowhere";
}

// A return address belongs to the call before it, even when that is the last instruction of the function.
TEST(Frames, CallSiteIsTheInstructionBefore) {
  std::string path = test::build_text("gcc -O1 -g", "ends.c",
                                      "void exit(int) __attribute__((noreturn));\n"
                                      "__attribute__((noinline, noreturn)) void leave(int x) {\n"
                                      "  exit(x);\n"
                                      "}\n"
                                      "int main(int c, char** v) { (void)v; leave(c); }\n");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  auto leave = file->find(test::address_of(path, "leave"));
  ASSERT_TRUE(leave.has_value());
  uint64_t end = leave->start + leave->size;
  auto frames = file->frames(end, true);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "leave");
  EXPECT_EQ(frames[0].line, 3u);
  auto next = file->frames(end, false);
  EXPECT_TRUE(next.empty() || next[0].function != "leave");
  EXPECT_TRUE(file->frames(0, true).empty());
  EXPECT_TRUE(file->frames(UINT64_MAX, false).empty());
}

TEST(Frames, SplitDwarf) {
  std::string path = test::build("g++ -std=c++17 -O2 -g -gdwarf-5 -gsplit-dwarf", "shapes.cc");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  auto frames = file->frames(test::address_of(path, "_ZN6shapes4overEd"), false);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().function, "shapes::over(double)");
  EXPECT_EQ(last_part(frames[0].file), "shapes.cc");
  size_t inlined = 0;
  for (uint64_t pc : test::random_pcs(path, 500)) inlined += file->frames(pc, false).size() > 1;
  EXPECT_GT(inlined, 20u);
}

// libc through /usr/lib/debug/.build-id: another build of another compiler, compressed, with assembler units.
TEST(Frames, LibcLikeItsDebugFile) {
  std::string libc = test::run("gcc -print-file-name=libc.so.6");
  libc.pop_back();
  auto file = open(libc);
  ASSERT_NE(file, nullptr);
  ASSERT_FALSE(file->status().debug_file.empty()) << "libc6-dbg is not installed";
  EXPECT_EQ(file->status().level, SymbolLevel::kDwarf);
  const std::string& debug = file->status().debug_file;
  auto pcs = test::random_pcs(debug, 1500);
  bool llvm = test::has_command("llvm-addr2line");
  auto result = compare(file.get(), debug, llvm ? "llvm-addr2line" : "addr2line", pcs);
  EXPECT_GT(result.compared, 1200u);
  EXPECT_EQ(result.count, 0u) << result.first;
  EXPECT_EQ(result.line, 0u) << result.first;
  // binutils takes the file of another line sometimes.
  EXPECT_LE(result.file, llvm ? 0u : result.compared / 10) << result.first;
  EXPECT_LE(result.function, result.compared / 100) << result.first;  // LLVM and binutils show clones in their own way
  EXPECT_EQ(file->find(test::address_of(debug, "__libc_malloc"))->name, "malloc");
  EXPECT_EQ(file->find(test::address_of(debug, "__write"))->name, "write");
}

}  // namespace
}  // namespace penna::frames_test

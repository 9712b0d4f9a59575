// SPDX-License-Identifier: MIT
// Functions and objects of real programs, compared with readelf.
#include "symbols/symbol_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "programs.h"

namespace penna::symbol_file_test {
namespace {

using test::build;
using test::ListedSymbol;

std::unique_ptr<SymbolFile> open(const std::string& path, const SymbolOptions& options = {}) {
  auto file = SymbolFile::open({path, {}}, options);
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().text);
  return file ? std::move(*file) : nullptr;
}

// Every sized function of readelf is found at its first and last byte, under one of its names.
void expect_all_functions(const std::string& path) {
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  std::map<uint64_t, std::set<std::string>> names;
  auto symbols = test::listed_symbols(path);
  for (const ListedSymbol& symbol : symbols) names[symbol.start].insert(symbol.name);
  size_t checked = 0;
  for (const ListedSymbol& symbol : symbols) {
    if ((symbol.type != "FUNC" && symbol.type != "IFUNC") || symbol.size == 0) continue;
    auto found = file->find(symbol.start);
    ASSERT_TRUE(found.has_value()) << symbol.name;
    EXPECT_EQ(found->start, symbol.start) << symbol.name;
    std::string raw(found->raw.substr(0, found->raw.find('@')));
    EXPECT_TRUE(names[symbol.start].count(raw)) << symbol.name << " got " << raw;
    EXPECT_GE(found->size, symbol.size);
    EXPECT_TRUE(file->find(symbol.start + symbol.size - 1).has_value());
    ++checked;
  }
  EXPECT_GT(checked, 3u);
}

class Compilers : public testing::TestWithParam<std::string> {};

TEST_P(Compilers, AllFunctionsOfReadelfAreFound) { expect_all_functions(build(GetParam(), "shapes.cc")); }

TEST_P(Compilers, NamesAndAliases) {
  std::string path = build(GetParam(), "shapes.cc");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  // plain_c (strong), plain_c_alias (weak), __plain_c_internal (strong): the one that users know.
  EXPECT_EQ(file->find(test::address_of(path, "plain_c_alias"))->name, "plain_c");
  EXPECT_EQ(file->find(test::address_of(path, "_ZN6shapes4overEd"))->name, "shapes::over(double)");
  EXPECT_EQ(file->find(test::address_of(path, "_ZN6shapes4overEd"))->raw, "_ZN6shapes4overEd");
  SymbolOptions simple;
  simple.demangle = Demangle::kSimple;
  EXPECT_EQ(open(path, simple)->find(test::address_of(path, "_ZN6shapes4overEd"))->name, "shapes::over");
  SymbolOptions raw;
  raw.demangle = Demangle::kNo;
  EXPECT_EQ(open(path, raw)->find(test::address_of(path, "_ZN6shapes4overEd"))->name, "_ZN6shapes4overEd");
}

TEST_P(Compilers, AnyAliasMatchesAndTheOneAskedForIsShown) {
  const std::string path = build(GetParam(), "shapes.cc");
  const uint64_t start = test::address_of(path, "plain_c");
  EXPECT_EQ(open(path)->names(start), (std::vector<std::string>{"plain_c", "plain_c_alias", "__plain_c_internal"}));
  EXPECT_TRUE(open(path)->names(start + 1).empty());
  EXPECT_TRUE(open(path)->names(test::address_of(path, "_ZN6shapes4overEd")).empty()) << "the symbol has no aliases";
  SymbolOptions options;
  options.rank = [](const std::string& name) { return name == "__plain_c_internal" ? 2 : name == "plain_c"; };
  EXPECT_EQ(open(path, options)->find(start)->name, "__plain_c_internal");
  EXPECT_EQ(open(path, options)->find(start)->raw, "plain_c");
  const auto ranked = open(path, options);
  const auto frames = ranked->frames(start, false);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().function, "__plain_c_internal");
}

TEST_P(Compilers, Objects) {
  std::string path = build(GetParam(), "shapes.cc");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  uint64_t mutex = test::address_of(path, "global_mutex");
  auto object = file->find_object(mutex + 8);
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->name, "global_mutex");
  EXPECT_EQ(object->offset, 8u);
  EXPECT_EQ(object->size, 40u);
  EXPECT_EQ(file->find_object(test::address_of(path, "_ZN12_GLOBAL__N_112hidden_mutexE"))->name,
            "(anonymous namespace)::hidden_mutex");
  EXPECT_FALSE(file->find_object(mutex + (uint64_t{1} << 40)).has_value());
  EXPECT_FALSE(file->find(mutex).has_value()) << "a data symbol is not a function";
}

TEST_P(Compilers, EntryIsWhereTheProcessBegins) {
  std::string path = build(GetParam(), "shapes.cc");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  const uint64_t start = test::address_of(path, "_start");
  EXPECT_TRUE(file->is_entry(start));
  EXPECT_TRUE(file->is_entry(start + 8));
  EXPECT_FALSE(file->is_entry(test::address_of(path, "main")));
  EXPECT_FALSE(file->is_entry(start - 1));
}

TEST_P(Compilers, PltEntries) {
  std::string path = build(GetParam(), "shapes.cc");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  auto all = file->functions();
  auto plt = std::find_if(all.begin(), all.end(), [](const Symbol& s) { return s.name == "pthread_mutex_lock@plt"; });
  ASSERT_NE(plt, all.end());
  EXPECT_EQ(plt->kind, SymbolKind::kPlt);
  // objdump names the same address.
  char address[32];
  snprintf(address, sizeof address, "%016lx <", plt->start);
  std::string listing = test::run("objdump -d " + path);
  size_t at = listing.find(address);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(listing.compare(at + 18, 18, "pthread_mutex_lock"), 0) << listing.substr(at, 60);
  ASSERT_EQ(file->frames(plt->start, false).size(), 1u);
}

std::vector<std::string> compilers() {
  std::vector<std::string> all{"g++ -std=c++17 -O2 -g -gdwarf-5", "g++ -std=c++17 -O2 -g -gdwarf-4 -no-pie",
                               "g++ -std=c++17 -O0 -g"};
  if (test::has_command("clang++")) {
    all.push_back("clang++ -std=c++17 -O2 -g -gdwarf-5");
    all.push_back("clang++ -std=c++17 -O2 -g -gdwarf-4");
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Real, Compilers, testing::ValuesIn(compilers()));

TEST(SymbolFile, FunctionsAreSortedAndDisjointInStart) {
  auto all = open(build(compilers()[0], "shapes.cc"))->functions();
  ASSERT_GT(all.size(), 20u);
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].start, all[i].start);
}

// With its debug file by symbol, without by its entry address.
TEST(SymbolFile, EntryOfTheDynamicLinker) {
  const std::string linker = "/lib64/ld-linux-x86-64.so.2";
  std::string entry = test::run("readelf -h " + linker + " | sed -n 's/ *Entry point address: *//p'");
  const uint64_t start = std::stoull(entry, nullptr, 16);
  auto bytes = test::read_bytes(linker);
  auto stripped = SymbolFile::from_memory("ld.so", bytes, {});
  ASSERT_TRUE(stripped) << stripped.error().text;
  auto whole = open(linker);
  ASSERT_NE(whole, nullptr);
  for (const uint64_t at : {start + 7, start + 0x2f}) {
    EXPECT_TRUE((*stripped)->is_entry(at)) << at;
    EXPECT_TRUE(whole->is_entry(at)) << at;
  }
  EXPECT_FALSE((*stripped)->is_entry(start - 1));
  EXPECT_FALSE((*stripped)->is_entry(start + 200));
}

TEST(SymbolFile, SharedLibrary) {
  std::string path = build("gcc -O2 -shared -fPIC", "library.c");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->status().level, SymbolLevel::kSymbols);
  EXPECT_NE(file->status().advice.find("-g"), std::string::npos);
  EXPECT_EQ(file->find(test::address_of(path, "hidden_helper"))->name, "hidden_helper");
  EXPECT_EQ(file->find(test::address_of(path, "hidden_helper"))->binding, SymbolBinding::kLocal);
  auto ifunc = file->find(test::address_of(path, "chosen"));
  ASSERT_TRUE(ifunc.has_value());
  EXPECT_EQ(ifunc->name, "chosen") << "an exported IFUNC wins over its local resolver";
  auto table = file->find_object(test::address_of(path, "exported_table") + 31);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->offset, 31u);

  std::string stripped = test::copy_of(path, "libstripped.so.1");
  test::run("strip " + stripped);
  auto bare = open(stripped);
  ASSERT_NE(bare, nullptr);
  EXPECT_EQ(bare->status().level, SymbolLevel::kDynamic);
  EXPECT_NE(bare->status().advice.find("libstripped.so.1 is stripped"), std::string::npos) << bare->status().advice;
  EXPECT_FALSE(bare->find(test::address_of(path, "hidden_helper")).has_value())
      << "a hidden symbol must not take the name of the exported one before it";
  EXPECT_EQ(bare->find(test::address_of(path, "exported_function"))->name, "exported_function");
}

TEST(SymbolFile, AssemblersSymbols) {
#if defined(__x86_64__)
  std::string path = build("gcc", "assembly.S");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  auto name_at = [&](uint64_t address) {
    auto symbol = file->find(address);
    return symbol ? std::string(symbol->name) : std::string();
  };
  uint64_t sized = test::address_of(path, "sized");
  EXPECT_EQ(name_at(sized), "sized");
  EXPECT_EQ(name_at(sized + 2), "sized") << "a label inside a function is not a function";
  EXPECT_EQ(name_at(sized + 4), "") << "past the end of the symbol";
  uint64_t label = test::address_of(path, "untyped_label");
  EXPECT_EQ(name_at(label + 1), "untyped_label");
  EXPECT_EQ(file->find(label)->size, 2u);
  uint64_t sizeless = test::address_of(path, "sizeless");
  EXPECT_EQ(name_at(sizeless + 2), "sizeless");
  EXPECT_EQ(file->find(sizeless)->size, 3u) << "a symbol without a size ends at the next one";
  uint64_t outer = test::address_of(path, "outer");
  EXPECT_EQ(name_at(outer), "outer");
  EXPECT_EQ(name_at(outer + 2), "nested");
  EXPECT_EQ(name_at(outer + 3), "outer") << "the outer symbol continues after the nested one";
#endif
}

TEST(SymbolFile, Arm64PltEntries) {
  ASSERT_TRUE(test::has_command("clang") && test::has_command("ld.lld"));
  std::string path =
      test::build_text("clang --target=aarch64-linux-gnu -fuse-ld=lld -nostdlib -shared -fPIC -O1", "arm64.c",
                       "int outside(int); int other(int);\nint inside(int x) { return outside(x) + other(x) + 1; }\n");
  auto file = open(path);
  ASSERT_NE(file, nullptr);
  std::vector<std::string> names;
  for (const Symbol& symbol : file->functions()) names.emplace_back(symbol.name);
  EXPECT_EQ(names, (std::vector<std::string>{"inside", "outside@plt", "other@plt"}));
}

TEST(SymbolFile, NotAnElfFile) {
  test::write_bytes(test::tree() + "/text", {'h', 'i', '\n'});
  auto file = SymbolFile::open({test::tree() + "/text", {}}, {});
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().text.find("not an ELF file"), std::string::npos);
  EXPECT_FALSE(SymbolFile::open({test::tree() + "/missing", {}}, {}).has_value());
  EXPECT_FALSE(SymbolFile::open({"/dev/zero", {}}, {}).has_value());
  test::run("mkfifo " + test::tree() + "/fifo");
  EXPECT_FALSE(SymbolFile::open({test::tree() + "/fifo", {}}, {}).has_value())
      << "opening a FIFO must fail, and not block";
}

TEST(SymbolFile, Vdso) {
  auto file = SymbolFile::open({"[vdso]", {}}, {});
  if (!file) GTEST_SKIP() << file.error().text;
  std::set<std::string> names;
  for (const Symbol& symbol : (*file)->functions()) names.emplace(symbol.name);
  EXPECT_TRUE(names.count("clock_gettime") || names.count("__vdso_clock_gettime"));
}

// Stripped, unless its -dbg package is installed; the exported functions have names in any case.
TEST(SymbolFile, PythonOfDebian) {
  auto file = SymbolFile::open({"/usr/bin/python3", {}}, {});
  ASSERT_TRUE(file.has_value()) << "/usr/bin/python3 is missing";
  EXPECT_NE((*file)->status().level, SymbolLevel::kNone);
  auto symbols = test::listed_symbols("/usr/bin/python3");
  size_t checked = 0;
  for (const auto& symbol : symbols) {
    if (symbol.name != "PyObject_Call" && symbol.name != "_PyEval_EvalFrameDefault") continue;
    EXPECT_EQ((*file)->find(symbol.start + symbol.size / 2)->name, symbol.name);
    ++checked;
  }
  EXPECT_EQ(checked, 2u);
}

}  // namespace
}  // namespace penna::symbol_file_test

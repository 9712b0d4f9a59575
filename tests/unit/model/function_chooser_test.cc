// SPDX-License-Identifier: MIT
// FunctionChooser: names, files and sources of functions; modules that arrive one by one, and replace others.
#include "model/names/function_chooser.h"

#include <gtest/gtest.h>

namespace penna::function_chooser_test {
namespace {

// "f10" of dir/a.c at 0x10 of every file whose path holds "lib"; nothing elsewhere.
class Symbols : public SymbolSource {
 public:
  explicit Symbols(int* asked) : asked_(asked) {}
  std::vector<SourceFrame> code(const NamedFile& file, uint64_t address) override {
    ++*asked_;
    if (file.path.find("lib") == std::string::npos) return {};
    return {{"inlined", "dir/b.h", 1, true}, {"ns::f" + std::to_string(address) + "(int)", "/src/dir/a.c", 2, false}};
  }
  std::vector<std::string> names(const NamedFile&, uint64_t address) override {
    if (address != 0x20) return {};
    return {"ns::f32(int)", "alias"};
  }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t) override { return std::nullopt; }
  bool is_entry(const NamedFile&, uint64_t) override { return false; }
  std::string problem(const NamedFile&) override { return ""; }

 private:
  int* asked_;
};

Module module_at(uint64_t start, const char* path, uint64_t ticks = 0) {
  Module module;
  module.bias = module.start = start;
  module.end = start + 0x100;
  module.path = path;
  module.ticks = ticks;
  return module;
}

class FunctionChooserTest : public testing::Test {
 protected:
  FunctionTraits ask(FunctionChoice choice, uint64_t pc, uint64_t ticks = 0) {
    FunctionChooser chooser(std::move(choice), std::make_unique<Symbols>(&asked_));
    chooser.learn(0, module_at(0x1000, "/usr/lib/libshop.so.1"));
    chooser.learn(0, module_at(0x2000, "/bin/program"));
    const FunctionTraits traits = chooser.traits(0, pc, ticks);
    unmet_ = chooser.unmet();
    return traits;
  }
  int asked_ = 0;
  std::vector<std::string> unmet_;
};

TEST_F(FunctionChooserTest, ByNameFileAndSource) {
  EXPECT_TRUE(ask({}, 0x1010).chosen);
  EXPECT_TRUE(ask({.only = {FunctionPattern("f16")}}, 0x1010).chosen);
  EXPECT_FALSE(ask({.only = {FunctionPattern("inlined")}}, 0x1010).chosen)
      << "an inlined function matches under its own name";
  EXPECT_FALSE(
      ask({.only = {FunctionPattern("f16"), FunctionPattern("g")}, .never = {FunctionPattern("ns::*")}}, 0x1010)
          .chosen);
  EXPECT_EQ(unmet_, (std::vector<std::string>{"-F 'g'"}));
  EXPECT_TRUE(ask({.modules = {PathPattern("libshop.so*")}}, 0x1010).chosen);
  EXPECT_TRUE(ask({.modules = {PathPattern("/usr/lib/*")}}, 0x1010).chosen);
  EXPECT_FALSE(ask({.modules = {PathPattern("shop.so*")}}, 0x1010).chosen);
  EXPECT_TRUE(ask({.sources = {PathPattern("a.c")}}, 0x1010).chosen);
  EXPECT_TRUE(ask({.sources = {PathPattern("dir/*.c")}}, 0x1010).chosen);
  EXPECT_FALSE(ask({.only = {FunctionPattern("f16")}, .sources = {PathPattern("b.h")}}, 0x1010).chosen);
  EXPECT_TRUE(ask({.callers = {FunctionPattern("f16")}}, 0x1010).caller);
  EXPECT_TRUE(ask({.on = {FunctionPattern("f16")}}, 0x1010).on);
  EXPECT_TRUE(ask({.off = {FunctionPattern("f16")}}, 0x1010).off);
}

TEST_F(FunctionChooserTest, EveryNameOfAFunctionCounts) {
  EXPECT_TRUE(ask({.only = {FunctionPattern("alias"), FunctionPattern("f32")}}, 0x1020).chosen);
  EXPECT_TRUE(unmet_.empty());
  EXPECT_FALSE(ask({.only = {FunctionPattern("f32")}, .never = {FunctionPattern("alias")}}, 0x1020).chosen);
  EXPECT_TRUE(ask({.callers = {FunctionPattern("alias")}}, 0x1020).caller);
  EXPECT_FALSE(ask({.only = {FunctionPattern("alias")}}, 0x1010).chosen);
}

TEST_F(FunctionChooserTest, FunctionsWithoutANameAreCalledAsInReports) {
  EXPECT_TRUE(ask({.only = {FunctionPattern("program+0x10")}}, 0x2010).chosen);
  const FunctionTraits nowhere = ask({.only = {FunctionPattern("[unknown] 0x9010")}}, 0x9010);
  EXPECT_TRUE(nowhere.chosen);
  EXPECT_FALSE(nowhere.placed);
}

TEST_F(FunctionChooserTest, ModulesMayComeLateAndTakeThePlaceOfOthers) {
  FunctionChooser chooser({.only = {FunctionPattern("f16")}}, std::make_unique<Symbols>(&asked_));
  EXPECT_FALSE(chooser.traits(0, 0x1010, 5).placed);
  EXPECT_TRUE(chooser.learn(0, module_at(0x1000, "/usr/lib/libshop.so", 10)));
  EXPECT_FALSE(chooser.learn(0, module_at(0x1000, "/usr/lib/libshop.so", 10)));
  EXPECT_TRUE(chooser.traits(0, 0x1010, 20).chosen);
  EXPECT_TRUE(chooser.traits(0, 0x1010, 20).lasting);
  EXPECT_TRUE(chooser.learn(0, module_at(0x1000, "/opt/other.so", 30)));
  EXPECT_TRUE(chooser.traits(0, 0x1010, 20).chosen);
  EXPECT_FALSE(chooser.traits(0, 0x1010, 40).chosen);
  EXPECT_FALSE(chooser.traits(0, 0x1010, 40).lasting);
  EXPECT_TRUE(chooser.learn(1, module_at(0x7000, "/usr/lib/libshop.so", 10)));
  const int asked = asked_;
  EXPECT_TRUE(chooser.traits(1, 0x7010, 20).chosen);
  EXPECT_EQ(asked_, asked) << "asked once per address of a file";
}

}  // namespace
}  // namespace penna::function_chooser_test

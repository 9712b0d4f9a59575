// SPDX-License-Identifier: MIT
// Which parts of a demangled name a user may write to refer to the function.
#include "model/names/function_pattern.h"

#include <gtest/gtest.h>

namespace penna::function_pattern_test {
namespace {

bool matches(const char* pattern, const char* name) { return FunctionPattern(pattern).matches(name); }

TEST(FunctionPattern, NamesWithoutTheirParameters) {
  EXPECT_EQ(without_parameters("main"), "main");
  EXPECT_EQ(without_parameters("shop::pay(shop::Order const&)"), "shop::pay");
  EXPECT_EQ(without_parameters("void Box::put<std::pair<int, long> >(std::pair<int, long>) const"),
            "Box::put<std::pair<int, long> >");
  EXPECT_EQ(without_parameters("run(int)::{lambda(int)#1}::operator()(int) const"),
            "run(int)::{lambda(int)#1}::operator()");
  EXPECT_EQ(without_parameters("operator<<(std::ostream&, int)"), "operator<<");
  EXPECT_EQ(without_parameters("run<main()::<lambda()> >"), "run<main()::<lambda()> >") << "as DWARF calls it";
  EXPECT_EQ(without_parameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  for (const char* broken : {"", ")", "(", ")(", "f)", "<<<", "a b)", "operator"}) (void)without_parameters(broken);
}

TEST(FunctionPattern, AllOfAName) {
  EXPECT_TRUE(matches("fib", "fib"));
  EXPECT_FALSE(matches("fib", "fibonacci"));
  EXPECT_TRUE(matches("shop::pay", "shop::pay(int)"));
  EXPECT_TRUE(matches("pay", "shop::pay(shop::Order const&)"));
  EXPECT_FALSE(matches("pay", "shop::repay(int)"));
  EXPECT_TRUE(matches("Box::put", "void Box::put<double>(double)"));
  EXPECT_TRUE(matches("Box::put<double>", "void Box::put<double>(double)"));
  EXPECT_FALSE(matches("Box::put<int>", "void Box::put<double>(double)"));
}

TEST(FunctionPattern, AsMuchOfANameAsThePatternHas) {
  EXPECT_EQ(name_for_pattern("void shop::pay<int>(int)", "pai"), "pay");
  EXPECT_EQ(name_for_pattern("void shop::pay<int>(int)", "shop::pai"), "shop::pay<int>");
  EXPECT_EQ(name_for_pattern("shop::pay(shop::Order const&)", "pai(int)"), "shop::pay(shop::Order const&)");
  EXPECT_EQ(name_for_pattern("shop::pay(int)", "pai*"), "shop::pay") << "a glob is of whole names";
  EXPECT_EQ(name_for_pattern("fib", "fob"), "fib");
  EXPECT_EQ(name_for_pattern("std::vector<shop::Order>::push_back(shop::Order&&)", "push_bakc"), "push_back");
}

TEST(FunctionPattern, OneOfThem) {
  EXPECT_TRUE(matches("shop::pay(int)", "shop::pay(int)"));
  EXPECT_FALSE(matches("shop::pay(int)", "shop::pay(long)"));
  EXPECT_TRUE(matches("T operator*(T const&)", "T operator*(T const&)"));
}

TEST(FunctionPattern, Globs) {
  EXPECT_TRUE(matches("shop::*", "shop::pay(int)"));
  EXPECT_TRUE(matches("PyDict_Ge?*", "PyDict_GetItem"));
  EXPECT_FALSE(matches("shop::*", "bank::pay(int)"));
}

}  // namespace
}  // namespace penna::function_pattern_test

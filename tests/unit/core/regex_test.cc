// SPDX-License-Identifier: MIT
// Regular expressions of penna/detail/regex.h: handmade cases, random ones compared with std::regex, and invalid or
// endless ones.
#include "penna/detail/regex.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>

namespace penna::regex_test {
namespace {

bool finds(const std::string& expression, const std::string& text) {
  const std::string pattern = "/" + expression + "/";
  EXPECT_TRUE(penna_is_pattern(pattern.c_str())) << pattern;
  return penna_text_matches(pattern.c_str(), text.c_str()) != 0;
}

TEST(Regex, FindsWhatItSays) {
  EXPECT_TRUE(finds("pay", "shop::pay(int)"));
  EXPECT_FALSE(finds("^pay", "shop::pay(int)"));
  EXPECT_TRUE(finds("^shop::(pay|book)\\(", "shop::book(int)"));
  EXPECT_FALSE(finds("^shop::(pay|book)$", "shop::book(int)"));
  EXPECT_TRUE(finds("^(a|bc)*$", "abcbca"));
  EXPECT_FALSE(finds("^(a|bc)+$", ""));
  EXPECT_TRUE(finds("^(|a)b?$", "ab"));
  EXPECT_TRUE(finds("[!a-z]x[^0-9]", "abc9xyz"));
  EXPECT_TRUE(finds("operator\\+\\+", "operator++"));
  EXPECT_TRUE(finds("{lambda", "f()::{lambda(int)#1}"));
  EXPECT_TRUE(finds("a.c", "a/c"));
  EXPECT_TRUE(finds("$", ""));
}

TEST(Regex, PatternsWithoutSlashesAreGlobs) {
  EXPECT_TRUE(penna_text_matches("db:*", "db:query"));
  EXPECT_FALSE(penna_text_matches("db:.*", "db:query"));
  EXPECT_TRUE(penna_text_matches("/usr/*", "/usr/lib"));
  EXPECT_TRUE(penna_text_matches("//", "//")) << "an empty pattern between the slashes";
  EXPECT_TRUE(penna_text_matches("/^db:(read|write)$/", "db:write"));
}

TEST(Regex, WhatIsNoneMatchesNothing) {
  for (const char* expression : {"(", ")", "a)", "(a", "*", "a|*", "[a", "a\\", "(()", "+a", "[]"}) {
    const std::string pattern = std::string("/") + expression + "/";
    EXPECT_FALSE(penna_is_pattern(pattern.c_str())) << pattern;
    EXPECT_FALSE(penna_text_matches(pattern.c_str(), "a")) << pattern;
  }
  EXPECT_FALSE(penna_is_pattern(("/" + std::string(5000, 'a') + "/").c_str()));
  EXPECT_FALSE(penna_is_pattern(("/" + std::string(400, '(') + std::string(100, ')') + "/").c_str()));
  EXPECT_TRUE(penna_is_pattern(("/" + std::string(500, 'a') + "/").c_str()));
}

TEST(Regex, SaysWhatIsWrongAndWhere) {
  const std::tuple<std::string, penna_regex_fault, uint32_t> faults[] = {
      {"(leaf", PENNA_REGEX_NO_PARENTHESIS, 0},
      {"a(b(c)", PENNA_REGEX_NO_PARENTHESIS, 1},
      {"ab)c", PENNA_REGEX_STRAY, 2},
      {"a[bc", PENNA_REGEX_NO_BRACKET, 1},
      {"a|*b", PENNA_REGEX_NOTHING, 2},
      {"ab\\", PENNA_REGEX_LONE, 2},
      {std::string(600, 'a'), PENNA_REGEX_LONG, PENNA_REGEX_STEPS}};
  for (const auto& [expression, fault, at] : faults) {
    penna_regex regex;
    EXPECT_FALSE(penna_regex_compile(&regex, expression.c_str(), expression.size())) << expression;
    EXPECT_EQ(regex.is_wrong, fault) << expression;
    EXPECT_EQ(regex.wrong_at, at) << expression;
  }
}

TEST(Regex, NoExpressionTakesForEver) {
  std::string expression = "^";
  for (int i = 0; i < 30; ++i) expression += "(a*)*";
  EXPECT_FALSE(finds(expression + "b$", std::string(10'000, 'a')));
}

std::string expression_of(std::mt19937& random, int depth) {
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  std::string text;
  for (uint32_t parts = 1 + below(3); parts-- != 0;) {
    switch (below(depth == 0 ? 5 : 8)) {
      case 0: text += '.'; break;
      case 1: text += "[a-b]"; break;
      case 2: text += "[^a]"; break;
      case 3:
      case 4: text += static_cast<char>('a' + below(3)); break;
      case 5: text += "(" + expression_of(random, depth - 1) + ")"; break;
      case 6: text += "(" + expression_of(random, depth - 1) + "|" + expression_of(random, depth - 1) + ")"; break;
      default: text += "(" + expression_of(random, depth - 1) + ")" + "*+?"[below(3)];
    }
    if (below(4) == 0) text += "*+?"[below(3)];
    if (text.size() > 1 && std::string("*+?").find(text[text.size() - 2]) != std::string::npos &&
        std::string("*+?").find(text.back()) != std::string::npos)
      text.pop_back();  // twice means something else to std::regex
  }
  return text;
}

TEST(Regex, TheSameAsAnotherOne) {
  std::mt19937 random(1);
  int found = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string expression = expression_of(random, 2);
    if (i % 3 == 0) expression = "^(" + expression + ")$";
    const std::regex other(expression, std::regex::extended);
    for (int j = 0; j < 8; ++j) {
      std::string text;
      for (size_t length = random() % 7; text.size() < length;) text += static_cast<char>('a' + random() % 4);
      const bool wanted = std::regex_search(text, other);
      found += wanted;
      ASSERT_EQ(finds(expression, text), wanted) << expression << " in '" << text << "'";
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_LT(found, 23'000);
}

}  // namespace
}  // namespace penna::regex_test

// SPDX-License-Identifier: MIT
// FunctionPattern: which functions a user means: "pay" or "shop::pay" for all of that name with any parameters,
// "shop::pay(int)" for one, "shop::*" for a glob over whole names, "/^shop::(pay|book)/" for a regular expression that
// is searched for in the name with or without its parameters.
// Invariant: a function name printed by a report, shortened or not, matches that function when passed back unchanged.
#pragma once

#include <string>
#include <string_view>

namespace penna {

class FunctionPattern {
 public:
  explicit FunctionPattern(std::string text);
  bool matches(const std::string& name) const;  // demangled in full
  const std::string& text() const { return text_; }

 private:
  bool matches_shortened(const std::string& name) const;

  std::string text_;
  std::string short_text_;  // empty: no name that it can mean is shortened
  bool is_regex_, is_glob_;
};

// "shop::pay<int>" of "void shop::pay<int>(int) const": without return type, parameters and what follows them. Operator
// names keep what precedes them.
std::string_view without_parameters(std::string_view name);

// The part of a name to compare with a pattern that matched nothing: with scope and parameters only if the pattern has
// them.
std::string_view name_for_pattern(std::string_view name, std::string_view pattern);

}  // namespace penna

// SPDX-License-Identifier: MIT
// FunctionPattern: which functions a user means: "pay" or "shop::pay" for all of that name, whatever their parameters,
// "shop::pay(int)" for one, "shop::*" for a glob over whole names, "/^shop::(pay|book)/" for a regular expression that
// is found in the name with its parameters or without.
// Invariant: what a report prints as a function's name, shortened or not, given back as it is, matches that function.
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
  std::string short_text_;  // empty: no name that it could mean is shortened
  bool is_regex_, is_glob_;
};

// "shop::pay<int>" of "void shop::pay<int>(int) const": without return type, parameters and what stands behind them.
// Names of operators keep what stands in front.
std::string_view without_parameters(std::string_view name);

// What of a name is compared with a pattern that met nothing: scope and parameters only where the pattern has some.
std::string_view name_for_pattern(std::string_view name, std::string_view pattern);

}  // namespace penna

// SPDX-License-Identifier: MIT
// See function_pattern.h.
#include "model/names/function_pattern.h"

#include <utility>

#include "penna/detail/regex.h"
#include "symbols/shortened_name.h"

namespace penna {
namespace {

bool is_open(char c) { return c == '(' || c == '<' || c == '{' || c == '['; }
bool is_close(char c) { return c == ')' || c == '>' || c == '}' || c == ']'; }

// Where the bracket that closes at name[at] opens; npos if it does not.
size_t opening_of(std::string_view name, size_t at) {
  size_t depth = 0;
  for (size_t i = at + 1; i-- > 0;) {
    if (is_close(name[i])) ++depth;
    if (is_open(name[i]) && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Where the last word begins, ignoring what is in brackets.
size_t last_word(std::string_view name) {
  size_t depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (is_close(name[i])) ++depth;
    if (is_open(name[i]) && depth != 0) --depth;
    if (name[i] == ' ' && depth == 0) return i + 1;
  }
  return 0;
}

// "shop::pay" of "shop::pay<int>".
std::string_view without_arguments(std::string_view plain) {
  if (plain.empty() || plain.back() != '>' || plain.find("operator") != std::string_view::npos) return plain;
  const size_t begin = opening_of(plain, plain.size() - 1);
  return begin == std::string_view::npos ? plain : plain.substr(0, begin);
}

// What follows the last "::" of that: "pay".
std::string_view name_alone(std::string_view plain) {
  const std::string_view name = without_arguments(plain);
  const size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

}  // namespace

std::string_view without_parameters(std::string_view name) {
  size_t end = name.rfind(')');
  if (end != std::string_view::npos && name.find('>', end) != std::string_view::npos) end = std::string_view::npos;
  const size_t begin = end == std::string_view::npos ? end : opening_of(name, end);
  if (begin != std::string_view::npos && begin != 0) name = name.substr(0, begin);
  // The signs in operator names are not brackets: counting them would be wrong.
  if (name.find("operator") != std::string_view::npos) return name;
  return name.substr(last_word(name));
}

// A glob is matched against whole names.
std::string_view name_for_pattern(std::string_view name, std::string_view pattern) {
  if (pattern.find('(') != std::string_view::npos) return name;
  const std::string_view plain = without_parameters(name);
  if (pattern.find("::") != std::string_view::npos || pattern.find_first_of("*?") != std::string_view::npos)
    return plain;
  return name_alone(plain);
}

FunctionPattern::FunctionPattern(std::string text)
    : text_(std::move(text)),
      is_regex_(penna_regex_in(text_.c_str()) != 0),
      is_glob_(!is_regex_ && text_.find_first_of("*?") != std::string::npos) {
  if (!is_regex_ && may_be_shortened(text_)) short_text_ = shortened_name(text_);
}

bool FunctionPattern::matches_shortened(const std::string& name) const {
  if (short_text_.empty() || !may_be_shortened(name)) return false;
  const std::string shorter = shortened_name(name);
  return shorter == short_text_ || without_parameters(shorter) == short_text_ ||
         (is_glob_ && penna_text_matches(text_.c_str(), shorter.c_str()) != 0);
}

bool FunctionPattern::matches(const std::string& name) const {
  if (is_regex_)
    return penna_text_matches(text_.c_str(), name.c_str()) != 0 ||
           penna_text_matches(text_.c_str(), std::string(without_parameters(name)).c_str()) != 0;
  if (name == text_ || (is_glob_ && penna_text_matches(text_.c_str(), name.c_str()) != 0)) return true;
  const std::string_view plain = without_parameters(name);
  return plain == text_ || without_arguments(plain) == text_ || name_alone(plain) == text_ || matches_shortened(name);
}

}  // namespace penna

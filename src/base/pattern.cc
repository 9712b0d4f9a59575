// SPDX-License-Identifier: MIT
// See pattern.h.
#include "base/pattern.h"

#include <fmt/core.h>

#include "penna/detail/regex.h"

namespace penna {
namespace {

std::string fault_text(const penna_regex& regex) {
  switch (regex.is_wrong) {
    case PENNA_REGEX_NO_PARENTHESIS: return "this ( has no )";
    case PENNA_REGEX_NO_BRACKET: return "this [ has no ]";
    case PENNA_REGEX_STRAY: return "this ) has no ( before it";
    case PENNA_REGEX_NOTHING: return fmt::format("there is nothing for this {} to repeat", regex.text[regex.wrong_at]);
    case PENNA_REGEX_LONE: return "\\ stands before nothing";
    case PENNA_REGEX_DEEP: return fmt::format("parentheses and | nest deeper than {} levels", +PENNA_REGEX_DEPTH);
    default: return fmt::format("it is too long: at most {} characters and repetitions", +PENNA_REGEX_STEPS);
  }
}

}  // namespace

Result<> check_pattern(const std::string& text) {
  penna_regex regex;
  const size_t length = penna_regex_in(text.c_str());
  if (length == 0 || penna_regex_compile(&regex, text.c_str() + 1, length) != 0) return ok();
  // People count from 1, and the slash is a character, too.
  return Error{fmt::format(
      "'{}' is not a regular expression: at character {}, {} (escape a character with \\ to match it literally)", text,
      regex.wrong_at + 2, fault_text(regex))};
}

}  // namespace penna

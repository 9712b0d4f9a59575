// SPDX-License-Identifier: MIT
// See own_locks.h.
#include "options/own_locks.h"

#include <fmt/core.h>

#include <string_view>

#include "base/pattern.h"
#include "model/names/function_pattern.h"

namespace penna {
namespace {

// Position of `wanted` outside of the brackets of parameters and templates; npos: not found. An operator's "<" would
// count as a bracket: such a function is not a lock.
size_t find_outside(std::string_view text, char wanted) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '<') ++depth;
    if (text[i] == ')' || text[i] == '>') --depth;
    if (text[i] == wanted && depth == 0) return i;
  }
  return text.npos;
}

// C++ names are written with or without a space before '*'; both must match the same function.
std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

// A name with a '*' has parameters, and is compared as text, up to its parameters if the given name has none; any other
// is a pattern like -F's, which would take the star for a wildcard.
WantedFunction named(std::string_view text) {
  const std::string name(text);
  if (name.find('*') != name.npos)
    return {name, [wanted = without_spaces(name)](const std::string& one) {
              const std::string seen = without_spaces(one);
              return seen.starts_with(wanted) && (seen.size() == wanted.size() || seen[wanted.size()] == '(');
            }};
  return {name, [pattern = FunctionPattern(name)](const std::string& one) { return pattern.matches(one); }};
}

}  // namespace

// Split by hand, not by a regular expression: C++ names may contain commas and equal signs, inside of brackets.
Result<OwnLock> parse_own_lock(const std::string& text) {
  const auto wrong = [&text](const char* why) {
    return Error{fmt::format("--lock-functions '{}' {}: write LOCK=UNLOCK or LOCK=UNLOCK,try=TRYLOCK", text, why)};
  };
  const std::string_view all = text;
  const size_t equals = find_outside(all, '=');
  if (equals == all.npos) return wrong("names no function that releases the lock");
  const size_t comma = find_outside(all, ',');
  const std::string_view takes = all.substr(0, equals);
  const std::string_view gives = all.substr(equals + 1, comma == all.npos ? comma : comma - equals - 1);
  if (comma < equals || takes.empty() || gives.empty() || find_outside(gives, '=') != gives.npos)
    return wrong("cannot be read");
  // LOCK, UNLOCK and TRYLOCK belong together: each must be one function.
  if (find_outside(all, '*') != all.npos || find_outside(all, '?') != all.npos)
    return wrong("has a glob, where a name is needed");
  if (takes == gives) return wrong("names one function twice");
  for (std::string_view name : {takes, gives}) PENNA_TRY(check_pattern(std::string(name)));
  OwnLock lock{text, named(takes), named(gives), {}, PENNA_ANSWER_NONE};
  if (comma == all.npos) return lock;
  std::string_view third = all.substr(comma + 1);
  const bool gives_zero = third.starts_with("try0=");
  if (!gives_zero && !third.starts_with("try=")) return wrong("has something other than try= after the comma");
  third.remove_prefix(gives_zero ? 5 : 4);
  if (third.empty() || third == takes || third == gives || find_outside(third, ',') != third.npos)
    return wrong("cannot be read");
  PENNA_TRY(check_pattern(std::string(third)));
  lock.tries = named(third);
  lock.answer = gives_zero ? PENNA_ANSWER_ZERO : PENNA_ANSWER_TRUE;
  return lock;
}

}  // namespace penna

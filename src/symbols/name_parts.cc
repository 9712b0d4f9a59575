// SPDX-License-Identifier: MIT
// See name_parts.h.
#include "symbols/name_parts.h"

#include <algorithm>
#include <array>

namespace penna {

bool begins_operator(std::string_view rest, std::string_view before) {
  return rest.starts_with("operator") && (before.empty() || !is_word(before.back())) &&
         (rest.size() == 8 || !is_word(rest[8]));
}

size_t take_operator(std::string_view rest, std::string* out) {
  static constexpr std::array<std::string_view, 12> kSigns = {"()", "[]", "<=>", "<<=", ">>=", "->*",
                                                              "<<", ">>", "<=",  ">=",  "->",  "<"};
  size_t size = 8;
  for (std::string_view sign : kSigns) {
    if (rest.substr(8, sign.size()) == sign) {
      size = 8 + sign.size();
      break;
    }
  }
  if (size == 8) {  // operator new[], operator bool, operator+: up to what follows
    size = rest.substr(8, 1) == ">" ? 9 : std::min(rest.find_first_of("(<", 8), rest.size());
  }
  out->append(rest.substr(0, size));
  if (rest.substr(size, 2) == " <") ++size;
  return size;
}

size_t skip_brackets(std::string_view text, size_t at) {
  size_t depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    char c = text[i];
    if (c == '-' && i + 1 < text.size() && text[i + 1] == '>') {
      ++i;
      continue;
    }
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == '>' || c == ']' || c == '}') && --depth == 0) return i + 1;
  }
  return text.size();
}

}  // namespace penna

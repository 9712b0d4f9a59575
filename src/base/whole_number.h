// SPDX-License-Identifier: MIT
// Numbers in text. Invariant: the text is the number and nothing else, and the number fits: neither blanks, a '+' nor
// what follows the digits is passed over, and what is too large is none.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace penna {

// A '-' only for signed types. No prefix: base 16 is "1f".
template <typename Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace penna

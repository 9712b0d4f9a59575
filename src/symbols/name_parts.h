// SPDX-License-Identifier: MIT
// The parts of a demangled name that are not what they look like: operator signs are not brackets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penna {

inline constexpr std::string_view kAnonymous = "(anonymous namespace)";

// A character of an identifier.
inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// Whether `rest` begins with the keyword "operator"; `before`: the preceding text.
bool begins_operator(std::string_view rest, std::string_view before);
// Takes "operator…" at the start of `rest`. Appends it to `out` and returns the number of characters taken, which may
// be one more: the blank of "operator< <int>", which ends no return type.
size_t take_operator(std::string_view rest, std::string* out);

// Skips a bracket pair that opens at `at`; returns the position after its end (or the end of the text).
size_t skip_brackets(std::string_view text, size_t at);

}  // namespace penna

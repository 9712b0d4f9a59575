// SPDX-License-Identifier: MIT
// Text that came out of a recording, made fit for a terminal: harmless, measured, cut to a width.
//
// Why: names come from strangers' programs. A terminal obeys escape sequences in them, and a broken UTF-8 sequence
// shifts the columns of a table. Invariant: what printable() gives is valid UTF-8 without control characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penna {

// Control characters (C0, DEL, C1) and bytes that are no UTF-8 as \xNN; line separators too. All else as it is.
std::string printable(std::string_view text);

// Columns that printable text takes on a terminal: one a character; zero for combining marks, two for East Asian wide ones.
size_t display_width(std::string_view text);

// At most `width` columns: the middle gives way to "...", because names of C++ differ at both ends. A width below 5
// keeps the head only.
std::string cut_middle(std::string_view text, size_t width);

// One character of UTF-8 at text[at]: its code point, and `size` in bytes. Not valid: code = kNotUtf8, size = 1.
struct Utf8 {
  uint32_t code;
  uint32_t size;
};
inline constexpr uint32_t kNotUtf8 = UINT32_MAX;
Utf8 decode_utf8(std::string_view text, size_t at);

}  // namespace penna

// SPDX-License-Identifier: MIT
// Text for a terminal measured and cut to a width.
//
// Why: names of C++ are longer than a line, and a character may take two columns or none.
// Invariant: nothing is cut within a character. The text is what printable() gave (base/printable.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penna {

// Columns that printable text takes on a terminal: one a character; zero for combining marks, two for East Asian wide
// ones.
size_t display_width(std::string_view text);

// At most `width` columns: the middle gives way to "...", because names of C++ differ at both ends. A width below 5
// keeps the head only.
std::string cut_middle(std::string_view text, size_t width);

// Lines of at most `width` columns, broken at spaces; a word that is longer, behind a '|', ',' or '/' in it, else
// anywhere. Line ends in the text count as spaces. Never empty.
std::vector<std::string> wrapped(std::string_view text, size_t width);

}  // namespace penna

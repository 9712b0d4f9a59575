// SPDX-License-Identifier: MIT
// Measures text for a terminal and cuts it to a width.
//
// Why: C++ names are longer than a line, and a character may take two columns or none.
// Invariant: nothing is cut within a character. The text comes from printable() (base/printable.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penna {

// Columns that printable text takes on a terminal: one per character; zero for combining marks, two for East Asian wide
// ones.
size_t display_width(std::string_view text);

// At most `width` columns: "..." replaces the middle, because C++ names differ at both ends. A width below 5 keeps only
// the head.
std::string cut_middle(std::string_view text, size_t width);

// Lines of at most `width` columns, broken at spaces; a longer word is broken after a '|', ',' or '/' in it, else
// anywhere. Line ends in the text count as spaces. Never empty.
std::vector<std::string> wrapped(std::string_view text, size_t width);

}  // namespace penna

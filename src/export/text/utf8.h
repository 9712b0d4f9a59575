// SPDX-License-Identifier: MIT
// UTF-8 for formats that require it to be valid: names and arguments in a recording need not be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penna {

// Length of the valid UTF-8 sequence at text[at] (Unicode 15, table 3-7); 0 if there is none.
size_t utf8_size(std::string_view text, size_t at);

// Replaces a byte that is not UTF-8: U+FFFD.
inline constexpr std::string_view kNotUtf8Sign = "\xef\xbf\xbd";

// The text with each such byte replaced.
std::string valid_utf8(std::string_view text);

}  // namespace penna

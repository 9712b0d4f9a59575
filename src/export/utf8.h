// SPDX-License-Identifier: MIT
// UTF-8 for formats that want it valid: what names and arguments of a recording need not be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penna {

// Bytes of the valid UTF-8 sequence at text[at] (Unicode 15, table 3-7); 0 when there is none.
size_t utf8_size(std::string_view text, size_t at);

// What stands in place of a byte that is no UTF-8: U+FFFD.
inline constexpr std::string_view kNotUtf8Sign = "\xef\xbf\xbd";

// The text with each such byte replaced.
std::string valid_utf8(std::string_view text);

}  // namespace penna

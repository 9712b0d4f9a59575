// SPDX-License-Identifier: MIT
// See printable.h. UTF-8 as in Unicode 15 table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace penna {

bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||                            // C0, DEL, C1
         code == 0x61c || code == 0x200e || code == 0x200f ||                       // direction marks
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);  // separators, overrides, isolates
}

Utf8 decode_utf8(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : uint32_t{0}; };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const uint32_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return {kNotUtf8, 1};
  uint32_t code = lead & (0x7fu >> size);
  for (uint32_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {kNotUtf8, 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {kNotUtf8, 1};
  return {code, size};
}

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::string printable(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8 character = decode_utf8(text, at);
    if (character.size == 1 && (character.code == kNotUtf8 || is_control(character.code))) {
      result += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[at]));
    } else if (is_control(character.code)) {
      result += fmt::format("\\u{:04x}", character.code);
    } else {
      result.append(text.substr(at, character.size));
    }
    at += character.size;
  }
  return result;
}

}  // namespace penna

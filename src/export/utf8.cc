// SPDX-License-Identifier: MIT
// See utf8.h.
#include "export/utf8.h"

#include <cstdint>

namespace penna {

size_t utf8_size(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : uint8_t{0}; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint8_t lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool in_range = second >= (lead == 0xe0 ? 0xa0 : 0x80) && second <= (lead == 0xed ? 0x9f : 0xbf);
    return in_range && continues(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool in_range = second >= (lead == 0xf0 ? 0x90 : 0x80) && second <= (lead == 0xf4 ? 0x8f : 0xbf);
    return in_range && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t size = utf8_size(text, at);
    result += size == 0 ? kNotUtf8Sign : text.substr(at, size);
    at += size == 0 ? 1 : size;
  }
  return result;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See utf8.h.
#include "export/text/utf8.h"

#include "base/printable.h"

namespace penna {

size_t utf8_size(std::string_view text, size_t at) {
  const Utf8 character = decode_utf8(text, at);
  return character.code == kNotUtf8 ? 0 : character.size;
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

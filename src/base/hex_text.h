// SPDX-License-Identifier: MIT
// Bytes as two hexadecimal digits each, in memory order.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace penna {

inline std::string hex_text(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

}  // namespace penna

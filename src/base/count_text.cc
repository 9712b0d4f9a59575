// SPDX-License-Identifier: MIT
// See count_text.h.
#include "base/count_text.h"

namespace penna {

std::string count_text(int64_t value) {
  const bool is_limit = value >= static_cast<int64_t>(kMostCounted);
  if (is_limit) value = static_cast<int64_t>(kMostCounted);
  std::string text = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = text.size(); at > first + 3;) text.insert(at -= 3, 1, ',');
  return is_limit ? "at least " + text : text;
}

std::string plural_text(int64_t value, const char* one, const char* many) {
  return count_text(value) + " " + (value == 1 ? one : many);
}

std::string plural_text(int64_t value, const char* noun) {
  return count_text(value) + " " + noun + (value == 1 ? "" : "s");
}

}  // namespace penna

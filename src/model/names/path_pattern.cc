// SPDX-License-Identifier: MIT
// See path_pattern.h.
#include "model/names/path_pattern.h"

#include "penna/detail/regex.h"

namespace penna {

bool PathPattern::matches(const std::string& path) const {
  for (size_t at = 0;; ++at) {
    if (penna_text_matches(text_.c_str(), path.c_str() + at) != 0) return true;
    at = path.find('/', at);
    if (at == std::string::npos) return false;
  }
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// Patterns as users type them: a glob, or a regular expression between slashes (penna/detail/regex.h).
//
// Invariant: what check_pattern() accepts matches as written wherever it is used; unchecked, an invalid regular
// expression would silently match nothing.
#pragma once

#include <string>

#include "base/result.h"

namespace penna {

// The error says what is wrong, and at which character. A glob is always valid.
Result<> check_pattern(const std::string& text);

}  // namespace penna

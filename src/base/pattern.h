// SPDX-License-Identifier: MIT
// Patterns as users type them: a glob, or a regular expression between slashes (penna/detail/regex.h).
//
// Invariant: what check_pattern() accepts matches as it says, wherever it is asked about; a regular expression with a
// fault would match nothing without a word.
#pragma once

#include <string>

#include "base/result.h"

namespace penna {

// The error says what is wrong, and at which character. A glob is always right.
Result<> check_pattern(const std::string& text);

}  // namespace penna

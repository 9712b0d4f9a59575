// SPDX-License-Identifier: MIT
// Globs as the agent's code calls them; see penna/detail/glob.h.
#pragma once

#include "penna/detail/glob.h"

namespace penna::agent {

inline bool glob_matches(const char* pattern, const char* text) { return penna_glob_matches(pattern, text) != 0; }

}  // namespace penna::agent

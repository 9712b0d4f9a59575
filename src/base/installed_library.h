// SPDX-License-Identifier: MIT
// Finds our own libraries: relative to the running program, in a build tree and in an installed one, so that either can
// be moved. The environment does not affect the result: the library is loaded into other programs.
#pragma once

#include <string_view>

#include "base/result.h"

namespace penna {

// Path of the library `name` (libpenna-agent.so), readable, and usable in LD_PRELOAD. Thread-safe.
Result<std::string> installed_library(std::string_view name);

}  // namespace penna

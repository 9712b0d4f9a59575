// SPDX-License-Identifier: MIT
// Where our own libraries are: relative to the program that asks, in a build tree and in an installed one, so that
// either can be moved. Nothing in the environment changes the answer: the library is loaded into other programs.
#pragma once

#include <string_view>

#include "base/result.h"

namespace penna {

// Path of the library `name` (libpenna-agent.so), which can be read, and named in LD_PRELOAD. Thread-safe.
Result<std::string> installed_library(std::string_view name);

}  // namespace penna

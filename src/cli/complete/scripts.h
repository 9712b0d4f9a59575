// SPDX-License-Identifier: MIT
// The completion scripts. Each calls `penna completion words`, and adds what its shell knows better: files, commands.
#pragma once

#include <string>

namespace penna {

// `shell`: bash, zsh or fish; null for any other.
const char* completion_script(const std::string& shell);

}  // namespace penna

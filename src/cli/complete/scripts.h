// SPDX-License-Identifier: MIT
// The completion scripts. Each only asks `penna completion words`, and adds what its shell knows better: files,
// commands.
#pragma once

#include <string>

namespace penna {

// `shell`: bash, zsh or fish; null: none for that.
const char* completion_script(const std::string& shell);

}  // namespace penna

// SPDX-License-Identifier: MIT
// Whole files: mapping one to read it, and reading a small one (also of /proc) into a string.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

// Maps a regular file read-only. The error names the path and the cause. An empty file gives an empty Mapping.
Result<Mapping> map_file(const std::string& path);

// Reads at most `limit` bytes (works on /proc, whose files have no size).
Result<std::string> read_file(const std::string& path, size_t limit = 16 << 20);

// The text of an errno value, thread-safe.
std::string errno_text(int error);

}  // namespace penna

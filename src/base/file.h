// SPDX-License-Identifier: MIT
// Whole files: a copy of one in memory, and reading a small one (also of /proc) into a string.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

// A regular file's bytes in memory of their own (file_copy.h says why). The error names the path and the cause, also
// where the file changed while it was read. An empty file gives an empty Mapping.
Result<Mapping> load_file(const std::string& path);

// "FILE changed while it was read: ..."
Error changed_while_read(const std::string& path);

// Reads at most `limit` bytes (works on /proc, whose files have no size).
Result<std::string> read_file(const std::string& path, size_t limit = 16 << 20);

// The text of an errno value, thread-safe.
std::string errno_text(int error);

}  // namespace penna

// SPDX-License-Identifier: MIT
// Whole files: a copy of one in memory, reading a small one (also of /proc) into a string, and writing a whole text.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

// A regular file's bytes in private memory (file_copy.h says why). The error names the path and the cause, also if the
// file changed while it was read. An empty file gives an empty Mapping.
Result<Mapping> load_file(const std::string& path);

// "FILE changed while it was read: ..."
Error changed_while_read(const std::string& path);

// Reads at most `limit` bytes (works for /proc, whose files have no size). Waits for a pipe's writer, if it has one.
Result<std::string> read_file(const std::string& path, size_t limit = 16 << 20);

// Writes all of it, also when interrupted by signals. False: errno says why not.
bool write_all(int fd, std::string_view bytes);
inline bool write_all(const Fd& file, std::string_view bytes) { return write_all(file.get(), bytes); }

// The text of an errno value, thread-safe.
std::string errno_text(int error);

}  // namespace penna

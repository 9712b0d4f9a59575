// SPDX-License-Identifier: MIT
// "-" as the name of a file that is read: standard input.
//
// Why a copy: recordings are read at any place, and a pipe only once. It is in memory, and read when first asked for.
// Invariant: a verb that is given "-" twice reads the same twice.
#pragma once

#include <string>

#include "base/result.h"

namespace penna {

// The path itself; of "-" one by which a copy of standard input can be opened.
Result<std::string> readable_path(const std::string& path);

// Why `-o -` is refused of a recording.
inline constexpr char kNoRecordingToOutput[] =
    "a recording cannot go to standard output, as it is completed in place: name a file with -o";

}  // namespace penna

// SPDX-License-Identifier: MIT
// "-" as the name of an input file: standard input.
//
// Why a copy: recordings are read at random offsets, and a pipe only once. The copy is in memory, and made on first
// use.
// Invariant: a verb that is given "-" twice reads the same twice.
#pragma once

#include <string>

#include "base/result.h"

namespace penna {

// The path itself; for "-" one that opens a copy of standard input.
Result<std::string> readable_path(const std::string& path);

// Why `-o -` is refused for a recording.
inline constexpr char kNoRecordingToOutput[] =
    "a recording cannot go to standard output, as it is completed in place: name a file with -o";

}  // namespace penna

// SPDX-License-Identifier: MIT
// penna import: makes a recording from a stream written by a kernel or firmware (penna/stream.h), or from a functracer
// trace.
#pragma once

#include <string>

#include "base/result.h"
#include "options/arguments.h"

namespace penna {

// The format is given, not guessed: a stream begins with a magic number, but an rtrace is plain text, and a wrong guess
// would complain about the wrong format.
struct ImportOptions {
  enum class Format { kStream, kRtrace } format = Format::kStream;
  std::string input;
  std::string output;  // empty: NAME.penna in the current directory
  bool force = false;
};

Result<Parsed<ImportOptions>> parse_import(const Arguments& arguments);
int cmd_import(const ImportOptions& options);

}  // namespace penna

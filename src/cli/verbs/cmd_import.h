// SPDX-License-Identifier: MIT
// penna import: makes a recording of what a kernel or firmware wrote through penna/stream.h, or of a trace of
// functracer.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options/arguments.h"

namespace penna {

// The format is named, not guessed: a stream begins with a magic number, but an rtrace is plain
// text, and a guess that fails would complain about the wrong format.
struct ImportOptions {
  enum class Format { kStream, kRtrace } format = Format::kStream;
  std::string input;
  std::string output;  // empty: NAME.penna here
  bool force = false;
};

Result<Parsed<ImportOptions>> parse_import(const Arguments& arguments);
int cmd_import(const ImportOptions& options);

}  // namespace penna

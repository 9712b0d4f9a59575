// SPDX-License-Identifier: MIT
// The options of etrace, and its messages: lines on stderr that begin with its name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "program_symbols.h"
#include "recording/reader.h"

namespace penna {

struct EtraceOptions {
  std::string program;          // or its debug file, or the output of nm for it; may be empty
  std::string output;           // the recording is kept here; empty: nowhere
  std::string listen, connect;  // HOST:PORT; empty: all on one machine
  bool all = false;             // a line for every call
  bool quiet = false;
  std::optional<uint32_t> serve;  // by libpenna-etrace.so: writes TRACE, reports its socket through this descriptor
};

void inform(const EtraceOptions& options, const std::string& text);  // not if quiet
int fail_with(const std::string& text);                              // the exit status

// Names from PROGRAM, if one is given.
Result<std::unique_ptr<ProgramSymbols>> open_symbols(const EtraceOptions& options,
                                                     std::unique_ptr<SymbolSource> others);
bool is_executable_of(const Recording& recording, const std::string& path);

}  // namespace penna

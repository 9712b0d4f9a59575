// SPDX-License-Identifier: MIT
// What etrace was asked for, and how it speaks: lines on stderr that begin with its name.
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
  std::string program;          // or its debug file, or what nm printed of it; may be empty
  std::string output;           // the recording is kept here; empty: nowhere
  std::string listen, connect;  // HOST:PORT; empty: one machine does it all
  bool all = false;             // a line for every call
  bool quiet = false;
  std::optional<uint32_t>
      serve;  // started by libpenna-etrace.so: writes TRACE, tells its socket through this descriptor
};

void tell(const EtraceOptions& options, const std::string& text);  // not when it shall be quiet
int fail_with(const std::string& text);                            // the exit status

// Names from PROGRAM, where one is given.
Result<std::unique_ptr<ProgramSymbols>> open_symbols(const EtraceOptions& options,
                                                     std::unique_ptr<SymbolSource> others);
bool is_executable_of(const Recording& recording, const std::string& path);

}  // namespace penna

// SPDX-License-Identifier: MIT
// A file TRACE as etrace's own ptrace.c wrote it, in lines of text, becomes a recording that is shown like any other:
//
//   REFERENCE: main 0x5578deadb169     where a function was loaded, in a position-independent program; may be missing
//   enter 0x5578deadb1a4
//   exit 0x5578deadb1a4
//   EXIT 4711                          the pid
//
// Why through a recording: one tree, one way to name functions. The text has neither threads nor times: each line is a
// tick.
// Invariant: the text is untrusted: time and memory are linear in its size; every line that is none of these is
// counted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "recording/reader.h"

namespace penna {

// Whether the file begins like such a text. Otherwise Recording::open() decides what it is.
bool is_text_trace(const std::string& path);

struct TextTrace {
  Recording recording;
  uint64_t other_lines = 0;  // skipped
};
// `program`: the file that names its functions (ELF, or an nm list), may be empty; `reference`: the address that this
// file has for a name.
using AddressOfName = std::function<std::optional<uint64_t>(const std::string& name)>;
Result<TextTrace> read_text_trace(const std::string& path, const std::string& program, const AddressOfName& reference);

}  // namespace penna

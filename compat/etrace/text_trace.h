// SPDX-License-Identifier: MIT
// A file TRACE as etrace's own ptrace.c wrote it, in lines of text, becomes a recording that is shown as all others
// are:
//
//   REFERENCE: main 0x5578deadb169     where a function lay, of a program that may lie anywhere; may be missing
//   enter 0x5578deadb1a4
//   exit 0x5578deadb1a4
//   EXIT 4711                          the pid
//
// Why through a recording: one tree, one way to name functions. There are neither threads nor times in it: each line
// is a tick.
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

// Does the file begin as such a text? Else it is what Recording::open() makes of it.
bool is_text_trace(const std::string& path);

struct TextTrace {
  Recording recording;
  uint64_t other_lines = 0;  // passed over
};
// `program`: what names its functions (ELF, or an nm list), may be empty; `reference`: the address that this gives a
// name.
using AddressOfName = std::function<std::optional<uint64_t>(const std::string& name)>;
Result<TextTrace> read_text_trace(const std::string& path, const std::string& program, const AddressOfName& reference);

}  // namespace penna

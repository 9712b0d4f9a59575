// SPDX-License-Identifier: MIT
// Opens the recording that a verb reads, with what its options leave out of it, and the symbols for its names.
//
// Invariant: an unnamed recording is the newest *.penna of the current directory, and the user learns which one that
// is: from the report, and at a terminal before anything is read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "filter/selection.h"
#include "model/names/names.h"
#include "model/names/symbol_source.h"
#include "options/arguments.h"
#include "options/input_options.h"
#include "options/table_options.h"
#include "options/thread_options.h"
#include "recording/reader.h"
#include "symbols/symbol_file.h"

namespace penna {

// The newest regular file *.penna of a directory, by modification time; among equally new ones the last by name. The
// error says what to do if there is none.
Result<std::string> newest_recording(const std::string& directory);

// Checks that servers are known if --debuginfod names none.
Result<> check_symbol_options(const InputOptions& options);
// "-" is standard input. For a missing file the error suggests the nearest name.
Result<Recording> open_recording(const std::string& path);
// Opens what the options name, after that check.
Result<Recording> open_input(const InputOptions& options);
// Which recording was chosen if none was named; else empty.
std::string chosen_text(const InputOptions& options, const Recording& recording);
// Where symbols are searched for, from the options. No file is opened yet.
SymbolOptions symbol_options(const InputOptions& options);
// The style of names and stacks in that format: machine formats get them in full.
NameStyle name_style(const InputOptions& options, Format format);
// `function`: one requested besides those of the filters, or empty.
std::unique_ptr<SymbolSource> open_symbols(const InputOptions& options, const Recording& recording,
                                           const std::string& function = "");

}  // namespace penna

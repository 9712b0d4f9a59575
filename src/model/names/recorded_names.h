// SPDX-License-Identifier: MIT
// The names that a recording itself holds for the places in it: taken from the files when it ends, and used if a reader
// no longer finds the files.
//
// Why: without them, a program rebuilt in place, an upgraded library or another machine would leave only addresses.
// Invariant: a recorded name is used for the same file, by path and build ID, and the same address in it: never for a
// later build.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/names/symbol_source.h"
#include "recording/reader.h"
#include "recording/seen_code.h"
#include "symbols/demangle.h"

namespace penna {

// Names of all these places; the program's own files come before libraries, which have their own source. `goes_on` is
// asked each time: once it returns false, the rest stays nameless. Places without a name are left out.
std::vector<FileNames> names_of(std::vector<SeenFile> files, SymbolSource& symbols, SymbolSource& of_libraries,
                                const std::function<bool()>& goes_on);

// What `symbols` knows, and otherwise what the recording holds; the recording must outlive it. In the style of
// `symbols`.
std::unique_ptr<SymbolSource> with_recorded_names(std::unique_ptr<SymbolSource> symbols, const Recording& recording,
                                                  Demangle style);
// make_symbol_source() with recorded names.
std::unique_ptr<SymbolSource> make_symbol_source(const SymbolOptions& options, const Recording& recording);

}  // namespace penna

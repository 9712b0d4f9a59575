// SPDX-License-Identifier: MIT
// The names that a recording holds itself, of the places that occur in it: taken from the files when it ends, and given
// where a reader does not find them any more.
//
// Why: a program that is rebuilt in place, a library that is upgraded or another machine would leave addresses only.
// Invariant: a recorded name is given for the same file, by path and build-id, and the same address in it: never one of
// a later build.
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

// Names of all these places, files of the program's own before those of libraries, which have a source of their own.
// `goes_on` is asked each time: once it says no, what is left stays without. Places without a name are left out.
std::vector<FileNames> names_of(std::vector<SeenFile> files, SymbolSource& symbols, SymbolSource& of_libraries,
                                const std::function<bool()>& goes_on);

// What `symbols` knows, and else what the recording does, which must outlive it; in the style that `symbols` has.
std::unique_ptr<SymbolSource> with_recorded_names(std::unique_ptr<SymbolSource> symbols, const Recording& recording,
                                                  Demangle style);
// make_symbol_source() with them.
std::unique_ptr<SymbolSource> make_symbol_source(const SymbolOptions& options, const Recording& recording);

}  // namespace penna

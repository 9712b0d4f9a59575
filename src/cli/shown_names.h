// SPDX-License-Identifier: MIT
// Which of its names a function with several (aliases: lseek and lseek64) is shown by: the one that somebody asked for,
// else the one that the program calls it by.
//
// Why: who asks for fopen64 looks for that in the table, and not for fopen.
// Invariant: where nobody asked, and calls between files were not recorded, names are the best known
// (symbols/elf/symbol_table.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/names/function_pattern.h"
#include "recording/reader.h"
#include "recording/types.h"

namespace penna {

// SymbolOptions::rank. `patterns`: of functions that are asked for now, besides those of the session's options.
std::function<int(const std::string& name)> rank_of_names(const Session& session, std::vector<FunctionPattern> patterns,
                                                          std::vector<std::string> called = {});

// What the programs of a recording call in other files, where such calls were recorded (--libcalls). `root`: where
// their files are.
std::vector<std::string> called_names(const Recording& recording, const std::string& root);

// Names functions of files of this machine, for sentences: "pay(int) [orders]". Not thread-safe.
std::function<std::string(const Module& module, uint64_t pc)> function_namer();

}  // namespace penna

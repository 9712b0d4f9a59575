// SPDX-License-Identifier: MIT
// Which name a function with several (aliases: lseek and lseek64) is shown by: the one that was requested, else the one
// that the program calls it by.
//
// Why: a user who asks for fopen64 searches the table for that, not for fopen.
// Invariant: without a request, and if calls between files were not recorded, the best known name is shown
// (symbols/elf/symbol_table.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/names/function_pattern.h"
#include "recording/reader.h"
#include "recording/types.h"

namespace penna {

// SymbolOptions::rank. `patterns`: of functions requested now, besides those of the session's options.
std::function<int(const std::string& name)> rank_of_names(const Session& session, std::vector<FunctionPattern> patterns,
                                                          std::vector<std::string> called = {});

// The functions that a recording's programs call in other files, if such calls were recorded (--libcalls). `root`: root
// directory of their files.
std::vector<std::string> called_names(const Recording& recording, const std::string& root);

// Names functions in files of this machine, for sentences: "pay(int) [orders]". Not thread-safe.
std::function<std::string(const Module& module, uint64_t pc)> function_namer();

}  // namespace penna

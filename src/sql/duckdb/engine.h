// SPDX-License-Identifier: MIT
// Where DuckDB is installed, and how: next to our own libraries, where a package may put it, or in the user's
// $XDG_DATA_HOME/penna, by `penna sql --install`.
//
// Invariant: the version and checksum are in a lock file that is part of penna; npm checks them before anything is
// written there.
#pragma once

#include "base/result.h"
#include "sql/duckdb/api.h"

namespace penna {

// The error says how to get it, in one sentence.
Result<DuckApi> load_sql_engine();
// Returns the path of the installed library, or of the existing one.
Result<std::string> install_sql_engine();

}  // namespace penna

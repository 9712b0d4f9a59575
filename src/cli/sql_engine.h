// SPDX-License-Identifier: MIT
// Where DuckDB is, and how it gets there: beside our own libraries, where a package may put it, or in the user's
// $XDG_DATA_HOME/penna, where `penna sql --install` does.
//
// Invariant: the version and the checksum of what is installed stand in a lock file that is part of penna; npm checks
// them before anything is written there.
#pragma once

#include "base/result.h"
#include "sql/duckdb/api.h"

namespace penna {

// The error says how to get it, in one sentence.
Result<DuckApi> load_sql_engine();
// Gives the path of what it has installed, or what was there already.
Result<std::string> install_sql_engine();

}  // namespace penna

// SPDX-License-Identifier: MIT
// How `penna sql` prints a statement's rows: as a table that fits the terminal, as CSV or as JSON.
//
// Invariant: CSV and JSON are streamed, and complete; a table says how many rows it omits.
#pragma once

#include "base/result.h"
#include "cli/output/output.h"
#include "options/table_options.h"
#include "sql/duckdb/database.h"

namespace penna {

// False: the reader has left. The error is DuckDB's.
Result<bool> write_sql_result(SqlResult& result, const TableOptions& options, Output& output);

}  // namespace penna

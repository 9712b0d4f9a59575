// SPDX-License-Identifier: MIT
// How `penna sql` gives out the rows of a statement: as a table that fits the terminal, as CSV or as JSON.
//
// Invariant: CSV and JSON are streamed, and complete; a table says how many rows it does not show.
#pragma once

#include "base/result.h"
#include "cli/options/table_options.h"
#include "cli/output.h"
#include "sql/duckdb/database.h"

namespace penna {

// False: nobody reads on. The error is DuckDB's.
Result<bool> write_sql_result(SqlResult& result, const TableOptions& options, Output& output);

}  // namespace penna

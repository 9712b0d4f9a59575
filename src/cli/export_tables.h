// SPDX-License-Identifier: MIT
// The formats of penna export that are the tables of SQL: sqlite, duckdb and parquet.
//
// Invariant: an output of that name stays as it is unless the new one is complete.
#pragma once

#include "cli/export_heap.h"

namespace penna {

// Each gives an exit status.
int write_sqlite(ExportWork& work);
int write_duckdb(ExportWork& work);
int write_parquet(ExportWork& work);  // into the directory: a file for each table

}  // namespace penna

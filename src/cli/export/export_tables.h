// SPDX-License-Identifier: MIT
// The formats of penna export that are SQL tables: sqlite, duckdb and parquet.
//
// Invariant: an existing output of that name stays unchanged unless the new one is complete.
#pragma once

#include "cli/export/export_heap.h"

namespace penna {

// Each returns an exit status.
int write_sqlite(ExportWork& work);
int write_duckdb(ExportWork& work);
int write_parquet(ExportWork& work);  // into the directory: a file for each table

}  // namespace penna

// SPDX-License-Identifier: MIT
// The tables of recordings as DuckDB table functions of the same names.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "sql/duckdb/api.h"
#include "sql/source.h"
#include "sql/tables.h"

namespace penna {

// A function's data: must live as long as the connection.
struct DuckTable {
  const DuckApi& api;
  const std::vector<std::unique_ptr<SqlSource>>& sources;
  const SqlTableDescription& table;
};

Result<> register_table(DuckConnection connection, DuckTable& table);

}  // namespace penna

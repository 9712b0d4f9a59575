// SPDX-License-Identifier: MIT
// A query to a ClickHouse server, and its rows in the formats of `penna sql`.
//
// Invariant: what is written is complete, or the error has the server's reason: an answer starts only once the query
// has finished.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/output/output.h"
#include "options/table_options.h"
#include "report/table.h"
#include "sql/clickhouse/fleet_server.h"

namespace penna {

// False: the output is no longer being read. The error is the server's.
Result<bool> write_fleet_answer(FleetServer& server, const std::string& query, const TableOptions& options,
                                Output& output);
// All rows of an answer; the cells are whole numbers where the column is one, else text.
Result<std::vector<std::vector<Cell>>> fleet_rows(FleetServer& server, const std::string& query);

}  // namespace penna

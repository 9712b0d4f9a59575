// SPDX-License-Identifier: MIT
// A query to a ClickHouse server, and its rows in the formats that `penna sql` has.
//
// Invariant: what is written is complete, or the server's own words say why not: an answer begins when the query is
// over.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options/table_options.h"
#include "cli/output.h"
#include "report/table.h"
#include "sql/clickhouse/fleet_server.h"

namespace penna {

// False: nobody reads on. The error is the server's.
Result<bool> write_fleet_answer(FleetServer& server, const std::string& query, const TableOptions& options,
                                Output& output);
// All rows of an answer; the cells are whole numbers where the column is one, else text.
Result<std::vector<std::vector<Cell>>> fleet_rows(FleetServer& server, const std::string& query);

}  // namespace penna

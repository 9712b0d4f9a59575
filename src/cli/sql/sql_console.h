// SPDX-License-Identifier: MIT
// `penna sql` at a terminal: statements as typed, each up to its ;.
#pragma once

#include <functional>
#include <string>

#include "sql/duckdb/database.h"

namespace penna {

// Until Ctrl-D. `run`: called with a whole statement, or several.
void run_sql_console(SqlDatabase& database, const std::function<void(const std::string&)>& run);

}  // namespace penna

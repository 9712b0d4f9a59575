// SPDX-License-Identifier: MIT
// All tables of a recording as a SQLite 3 database (https://www.sqlite.org/fileformat2.html).
//
// Why loaded on demand: most users never need the library, and a bundle must run without it.
// Invariant: the file has every table and column of tables.h, even for events that were not recorded.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "sql/source.h"

namespace penna {

// Into a file that does not exist yet. The error is SQLite's, or says how to get it. `step` receives the number of rows
// written.
Result<> export_sqlite(SqlSource& source, const std::string& path, const std::function<void(uint64_t)>& step);

}  // namespace penna

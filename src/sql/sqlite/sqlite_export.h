// SPDX-License-Identifier: MIT
// All tables of a recording as a database of SQLite 3 (https://www.sqlite.org/fileformat2.html).
//
// Why loaded: most who use penna never need the library, and a bundle shall run without it.
// Invariant: the file has every table and column of tables.h, also of what was not recorded.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "sql/source.h"

namespace penna {

// Into a file that is not there yet. The error is SQLite's, or says how to get it. `step` gets how many rows were
// written.
Result<> export_sqlite(SqlSource& source, const std::string& path, const std::function<void(uint64_t)>& step);

}  // namespace penna

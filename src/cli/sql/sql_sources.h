// SPDX-License-Identifier: MIT
// The recordings that SQL queries, opened like those of other verbs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "options/input_options.h"
#include "sql/source.h"

namespace penna {

using SqlSources = std::vector<std::unique_ptr<SqlSource>>;

// None named: the newest here. The error names the recording that cannot be read.
Result<SqlSources> open_sql_sources(const InputOptions& options, const std::vector<std::string>& paths);
// Warnings about too small numbers, as below a report. With several recordings each warning names its own.
std::vector<std::string> sql_warnings(const SqlSources& sources);

}  // namespace penna

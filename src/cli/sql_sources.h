// SPDX-License-Identifier: MIT
// The recordings that SQL is about, opened as other verbs open theirs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/input_options.h"
#include "sql/source.h"

namespace penna {

using SqlSources = std::vector<std::unique_ptr<SqlSource>>;

// None named: the newest here. The error names the recording that cannot be read.
Result<SqlSources> open_sql_sources(const InputOptions& options, const std::vector<std::string>& paths);
// What makes numbers less than the truth, as below a report. Of several recordings each says whose it is.
std::vector<std::string> sql_warnings(const SqlSources& sources);

}  // namespace penna

// SPDX-License-Identifier: MIT
// Queries that the user has saved by name: $XDG_CONFIG_HOME/penna/sql/NAME.sql.
//
// Why files of SQL: any editor changes them, and any tool copies them.
// Invariant: a name is no table's, and leads only into the directory; a file is the user's alone, replaced as a whole.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace penna {

// The error says which names are allowed.
Result<> check_query_name(const std::string& name);
// Replaces an earlier one. Returns the file's path.
Result<std::string> save_query(const std::string& name, const std::string& query);
// Nothing: there is none of this name.
std::optional<std::string> saved_query(const std::string& name);
std::vector<std::string> saved_query_names();  // sorted

}  // namespace penna

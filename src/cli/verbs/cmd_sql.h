// SPDX-License-Identifier: MIT
// penna sql: queries recordings in SQL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/arguments.h"
#include "options/input_options.h"
#include "options/server_options.h"
#include "options/table_options.h"

namespace penna {

struct SqlOptions {
  InputOptions input;                   // its recording is not used
  std::vector<std::string> recordings;  // none: the newest here
  std::optional<std::string> query;     // none: from a file, a terminal, or standard input
  std::string file;
  ServerOptions server;  // with a URL: it is asked, and no recording
  TableOptions table;
  bool parquet = false;
  std::string output;  // empty or "-": standard output
  bool install = false;
  std::string save;         // the query is saved under this name, and not run
  bool show_saved = false;  // the saved ones are listed
};

Result<Parsed<SqlOptions>> parse_sql(const Arguments& arguments);
int cmd_sql(const SqlOptions& options);

}  // namespace penna

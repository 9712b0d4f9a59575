// SPDX-License-Identifier: MIT
// penna push: sends recordings to the tables of a ClickHouse server.
#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/input_options.h"
#include "cli/options/server_options.h"
#include "cli/options/values.h"
#include "sql/clickhouse/fleet_push.h"

namespace penna {

struct PushOptions {
  InputOptions input;                   // only its symbol options are used
  ServerOptions server;                 // without a URL: unfinished pushes are continued
  std::vector<std::string> recordings;  // none, with a URL: the newest here
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<Duration> give_up;  // after so long without an answer
};

Result<Parsed<PushOptions>> parse_push(const Arguments& arguments);
int cmd_push(const PushOptions& options);

}  // namespace penna

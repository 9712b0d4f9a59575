// SPDX-License-Identifier: MIT
// penna fleet: the tables of ClickHouse servers that recordings are pushed to.
#pragma once

#include <string>
#include <vector>

#include "options/arguments.h"
#include "options/server_options.h"

namespace penna {

struct FleetOptions {
  std::string what;               // "init" or "expire"
  std::vector<std::string> urls;  // at least one
  ServerOptions server;           // its URL is not used
  std::string cluster;            // empty: none
  uint32_t keep_days = 0;         // 0: for ever
};

Result<Parsed<FleetOptions>> parse_fleet(const Arguments& arguments);
int cmd_fleet(const FleetOptions& options);

}  // namespace penna

// SPDX-License-Identifier: MIT
// A ClickHouse server over HTTP or HTTPS (sql/clickhouse/fleet_server.h).
//
// Invariant: every outcome that is not certain is kUnknown; what the server said is in the sentence, fit to be printed.
#pragma once

#include <memory>

#include "base/result.h"
#include "cli/options/server_options.h"
#include "sql/clickhouse/fleet_server.h"

namespace penna {

// Reads the password or token; the server is not asked yet. The error says what is wrong with their file, or that the
// module which speaks HTTP is missing.
Result<std::unique_ptr<FleetServer>> open_fleet_server(const ServerOptions& options);

// The server's version, "18.16.1". The error: it is too old, or does not answer.
Result<std::string> fleet_version(FleetServer& server);
// Is it at least that?
bool is_version_from(const std::string& version, int major, int minor);

}  // namespace penna

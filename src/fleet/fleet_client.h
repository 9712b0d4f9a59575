// SPDX-License-Identifier: MIT
// A ClickHouse server over HTTP or HTTPS (sql/clickhouse/fleet_server.h).
//
// Invariant: every uncertain outcome is kUnknown; the sentence has the server's words, made printable.
#pragma once

#include <memory>

#include "base/result.h"
#include "options/server_options.h"
#include "sql/clickhouse/fleet_server.h"

namespace penna {

// Reads the password or token; does not contact the server yet. The error says what is wrong with their file, or that
// the HTTP module is missing.
Result<std::unique_ptr<FleetServer>> open_fleet_server(const ServerOptions& options);

// The server's version, "18.16.1". The error: it is too old, or does not answer.
Result<std::string> fleet_version(FleetServer& server);
// Whether it is at least this version.
bool is_version_from(const std::string& version, int major, int minor);

}  // namespace penna

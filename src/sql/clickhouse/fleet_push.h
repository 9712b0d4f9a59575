// SPDX-License-Identifier: MIT
// FleetPush: a recording on its way to a ClickHouse server, each row exactly once.
//
// A block of rows has its checksum as its key. It is sent, and is there when the server says so. When nobody says
// anything, the server is asked for the key; if it is not there, the number that it was sent with is declared void, and
// it goes again with another one: should the first come to life later, no view shows it. Blocks go one after the other,
// so of a push that was ended by a crash only the first that is missing can still be under way.
// Invariant: a row is visible once or, until the push is over, not at all; and `recording` has its row last.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sql/clickhouse/fleet_rows.h"
#include "sql/clickhouse/fleet_server.h"
#include "sql/source.h"

namespace penna {

using LabelList = std::vector<std::pair<std::string, std::string>>;  // sorted by name, each once

struct PushOrder {
  LabelList labels;      // `service` and `host` are among them
  uint32_t attempt = 0;  // the last that was noted
  bool begun = false;    // and something may have been sent
  uint16_t today = 0;    // days since 1970
};

// What a push asks of whoever started it.
struct PushCare {
  // Must be on disk before it returns: the number may be used now.
  std::function<Result<>(uint32_t attempt)> note;
  // Before the same is tried again, for the `tries`th time in a row; false: no more. `why`: a sentence.
  std::function<bool(unsigned tries, const std::string& why)> wait;
};

struct PushDone {
  bool was_there = false;  // all of it, before
  uint64_t rows = 0, blocks = 0, bytes = 0;
  uint64_t blocks_before = 0;  // that had arrived earlier
  uint64_t repeated = 0;       // blocks that were sent again
};

// The error is a sentence; whatever has arrived stays, and another push of the same recording goes on from there.
// `done` is right then, too.
Result<> push_recording(FleetServer& server, SqlSource& source, const PushOrder& order, const PushCare& care,
                        PushDone& done);

// "service=checkout", as --label has it.
Result<std::pair<std::string, std::string>> parse_label(const std::string& text);
// Whether the tables are there, and are ours. Gives how many days rows are kept; 0: for ever.
Result<uint32_t> check_fleet(FleetServer& server);

}  // namespace penna

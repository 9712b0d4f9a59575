// SPDX-License-Identifier: MIT
// FleetPush: a recording on its way to a ClickHouse server, each row exactly once.
//
// The key of a block of rows is its checksum. A block is stored once the server acknowledges it. If no answer comes,
// the server is queried for the key; if it does not have it, the number that the block was sent with is declared void,
// and the block is sent again with another one: if the first one arrives later after all, no view shows it. Blocks are
// sent one at a time, so after a push that ended in a crash only the first missing block can still be in flight.
// Invariant: a row is visible once or, until the push is over, not at all; and `recording` gets its row last.
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

// What a push asks of its caller.
struct PushCare {
  // Must put the number on disk before it returns: the number may be used from then on.
  std::function<Result<>(uint32_t attempt)> note;
  // Called before the same is tried again, for the `tries`th time in a row; false: give up. `why`: a sentence.
  std::function<bool(unsigned tries, const std::string& why)> wait;
};

struct PushDone {
  bool was_there = false;  // all of it, before
  uint64_t rows = 0, blocks = 0, bytes = 0;
  uint64_t blocks_before = 0;  // that had arrived earlier
  uint64_t repeated = 0;       // blocks that were sent again
};

// The error is a sentence; whatever has arrived stays, and another push of the same recording continues from there.
// `done` is valid then, too.
Result<> push_recording(FleetServer& server, SqlSource& source, const PushOrder& order, const PushCare& care,
                        PushDone& done);

// "service=checkout", as given to --label.
Result<std::pair<std::string, std::string>> parse_label(const std::string& text);
// Checks that the tables exist, and are ours. Returns how many days rows are kept; 0: forever.
Result<uint32_t> check_fleet(FleetServer& server);

}  // namespace penna

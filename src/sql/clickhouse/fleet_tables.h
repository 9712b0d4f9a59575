// SPDX-License-Identifier: MIT
// The tables of tables.h in ClickHouse, for the recordings of many machines, and the statements that create them.
//
// Each table X is two: X_rows, which takes what is pushed, and X, a view of it with the columns that `penna sql` shows.
// In a cluster both are Distributed over the shards' tables. Why a view: of a block that was sent twice, because it was
// uncertain whether it had arrived, only one counts; see fleet_push.h.
// Invariant: what an id refers to is found by that one column, whatever recording it is from: ids are 128 bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sql/tables.h"

namespace penna {

// The version of the tables themselves; a server with another number is refused.
inline constexpr int kFleetFormat = 1;

struct FleetColumn {
  std::string name;
  std::string type;                   // ClickHouse's
  const SqlColumn* source = nullptr;  // of tables.h; null: one that the fleet adds
  uint32_t index = 0;                 // of `source` in its table
  bool is_id = false;                 // 128 bits
  bool is_nullable() const { return type.starts_with("Nullable("); }
};

// What rows of a table belong to.
enum class FleetOrder : uint8_t {
  kTime,        // ordered by service, host, process and time
  kRecording,   // by service, host and recording
  kDictionary,  // of no recording: by their contents, so that equal ones are one row
};

struct FleetTable {
  std::string name;
  const SqlTableDescription* source = nullptr;  // null: the table `label`
  FleetOrder order = FleetOrder::kRecording;
  std::vector<FleetColumn> columns;  // of the view; service, host and day follow, unless it is a dictionary
};
// In the order in which they are sent: what others refer to comes first, and `recording` last, so that a recording that
// is listed there is complete.
const std::vector<FleetTable>& fleet_tables();
const FleetTable& fleet_table(SqlTable table);

struct FleetSetup {
  std::string database;
  std::string cluster;     // empty: none
  uint32_t keep_days = 0;  // 0: for ever
  bool knows_ttl = true;   // servers before 19.6 do not
  std::string shards_database() const { return cluster.empty() ? database : database + "_shard"; }
};
// Each creates something that does not exist yet; to be run on every server.
std::vector<std::string> fleet_statements(const FleetSetup& setup);

// All columns of X_rows as "`a`, `b`", in the order in which blocks have them.
std::vector<std::string> row_columns(const FleetTable& table);

}  // namespace penna

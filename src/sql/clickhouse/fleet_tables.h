// SPDX-License-Identifier: MIT
// The tables of tables.h as ClickHouse has them, for recordings of many machines, and the statements that make them.
//
// Each table X is two: X_rows, which takes what is pushed, and X, a view of it with the columns that `penna sql` shows.
// In a cluster both are Distributed over those of the shards. Why a view: a block that was sent twice, because nobody
// could tell whether it had arrived, is one that counts; see push.h.
// Invariant: what an id leads to is found by that one column, whatever recording it is from: ids are 128 bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sql/tables.h"

namespace penna {

// Of the tables themselves; a server with another number is refused.
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
  std::vector<FleetColumn> columns;  // of the view; service, host and day are behind them, unless it is a dictionary
};
// In the order in which they are sent: what others lead to comes first, and `recording` last, so that a recording that
// stands there is there whole.
const std::vector<FleetTable>& fleet_tables();
const FleetTable& fleet_table(SqlTable table);

struct FleetSetup {
  std::string database;
  std::string cluster;     // empty: none
  uint32_t keep_days = 0;  // 0: for ever
  bool knows_ttl = true;   // servers before 19.6 do not
  std::string shards_database() const { return cluster.empty() ? database : database + "_shard"; }
};
// Each makes something that is not there yet; to be run on every server.
std::vector<std::string> fleet_statements(const FleetSetup& setup);

// All columns of X_rows as "`a`, `b`", in the order in which blocks have them.
std::vector<std::string> row_columns(const FleetTable& table);

}  // namespace penna

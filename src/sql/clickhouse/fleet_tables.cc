// SPDX-License-Identifier: MIT
// See fleet_tables.h.
#include "sql/clickhouse/fleet_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/check.h"

namespace penna {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

FleetOrder order_of(const SqlTableDescription& table) {
  if (table.by_time) return FleetOrder::kTime;
  return is_one_of(table.name, {"stack", "frame", "symbol"}) ? FleetOrder::kDictionary : FleetOrder::kRecording;
}

// In a dictionary, what is specific to one recording; and the machine's name, which the label replaces.
bool is_left_out(const SqlTableDescription& table, std::string_view column) {
  if (order_of(table) == FleetOrder::kDictionary) return is_one_of(column, {"recording", "process"});
  return table.table == SqlTable::kRecording && column == "host";
}

// Columns that rows are ordered by cannot be NULL, and never are.
bool is_always_there(const SqlTableDescription& table, const SqlColumn& column) {
  const std::string_view name = column.name;
  if (std::string_view(column.key) == "key" || is_one_of(name, {"recording", "process"})) return true;
  if (table.by_time) return is_one_of(name, {"time", "utc"});
  return table.table == SqlTable::kFrame && is_one_of(name, {"stack", "level"});
}

FleetColumn column_of(const SqlTableDescription& table, const SqlColumn& column) {
  FleetColumn made;
  made.name = column.name;
  made.source = &column;
  made.index = static_cast<uint32_t>(&column - table.columns.data());
  made.is_id = *column.key != '\0';
  switch (column.type) {
    case SqlType::kInteger: made.type = made.is_id ? "UUID" : "Int64"; break;
    case SqlType::kUtc: made.type = "Int64"; break;
    case SqlType::kBoolean: made.type = "UInt8"; break;
    case SqlType::kText:
    case SqlType::kJson: made.type = "String"; break;
  }
  if (!is_always_there(table, column)) made.type = fmt::format("Nullable({})", made.type);
  return made;
}

FleetTable table_of(SqlTable which) {
  const SqlTableDescription& description = description_of(which);
  FleetTable table{description.name, &description, order_of(description), {}};
  for (const SqlColumn& column : description.columns)
    if (!is_left_out(description, column.name)) table.columns.push_back(column_of(description, column));
  return table;
}

FleetTable label_table() {
  FleetTable table{"label", nullptr, FleetOrder::kRecording, {}};
  table.columns = {{"recording", "UUID", nullptr, 0, true}, {"name", "String"}, {"value", "String"}};
  return table;
}

std::vector<FleetTable> make_tables() {
  std::vector<FleetTable> tables = {label_table()};
  // A stack counts as known once it is stored, so its frames are sent first.
  for (const SqlTable which : {SqlTable::kFrame, SqlTable::kStack, SqlTable::kSymbol})
    tables.push_back(table_of(which));
  for (const SqlTableDescription& table : sql_tables())
    if (order_of(table) != FleetOrder::kDictionary && table.table != SqlTable::kRecording)
      tables.push_back(table_of(table.table));
  tables.push_back(table_of(SqlTable::kRecording));
  PENNA_CHECK(tables.size() == kSqlTables + 1);
  return tables;
}

std::string order_by(const FleetTable& table) {
  switch (table.order) {
    case FleetOrder::kTime: return "service, host, process, time, row";
    case FleetOrder::kRecording:
      return table.name == "recording" ? "service, host, id, row" : "service, host, recording, row";
    case FleetOrder::kDictionary: break;
  }
  return table.name == "stack" ? "id" : table.name == "frame" ? "stack, level" : "row";
}

// The columns of X_rows in addition to the view's. `shard`: determines a row's shard; `row`: the row's number in its
// table and recording, or in `symbol` its hash; `block`: the block that it came in, and `attempt`: its number.
constexpr std::string_view kBefore = "shard UInt8, day Date";
constexpr std::string_view kLabels = "service String, host String";
constexpr std::string_view kBehind = "row UInt64, block UInt64, attempt UInt32";

std::string columns_text(const FleetTable& table, bool of_view) {
  std::string text;
  if (!of_view) text = fmt::format("{}, ", kBefore);
  for (const FleetColumn& column : table.columns) text += fmt::format("`{}` {}, ", column.name, column.type);
  if (table.order != FleetOrder::kDictionary) text += fmt::format("{}, ", kLabels);
  text += of_view ? "day Date" : kBehind;
  return text;
}

std::string rows_statement(const FleetSetup& setup, const FleetTable& table) {
  const bool shared = table.order == FleetOrder::kDictionary;
  std::string text = fmt::format(
      "CREATE TABLE IF NOT EXISTS {}.{}_rows ({}) ENGINE = ReplacingMergeTree({}) PARTITION BY {} ORDER BY ({})",
      setup.shards_database(), table.name, columns_text(table, false), shared ? "day" : "attempt",
      shared ? "tuple()" : "day", order_by(table));
  // A known stack is not sent again while rows that refer to it can still come, so it is kept twice as long.
  if (setup.keep_days != 0 && setup.knows_ttl)
    text += fmt::format(" TTL day + INTERVAL {} DAY", shared ? setup.keep_days * 2 : setup.keep_days);
  return text;
}

std::string view_statement(const FleetSetup& setup, const FleetTable& table) {
  std::vector<std::string> names;
  for (const FleetColumn& column : table.columns) names.push_back(fmt::format("`{}`", column.name));
  const std::string rows = fmt::format("{}.{}_rows", setup.shards_database(), table.name);
  const std::string view = fmt::format("CREATE VIEW IF NOT EXISTS {}.{} AS SELECT {}", setup.shards_database(),
                                       table.name, fmt::join(names, ", "));
  if (table.order == FleetOrder::kDictionary) return fmt::format("{}, day FROM {} FINAL", view, rows);
  return fmt::format("{}, service, host, day FROM {} WHERE block NOT IN (SELECT block FROM {}.void_block)", view, rows,
                     setup.shards_database());
}

std::string distributed(const FleetSetup& setup, const std::string& name, const std::string& columns) {
  return fmt::format("CREATE TABLE IF NOT EXISTS {0}.{1} ({2}) ENGINE = Distributed({3}, {4}, {1}, shard)",
                     setup.database, name, columns, setup.cluster, setup.shards_database());
}
// A table that is only read from: it needs no sharding key.
std::string distributed_view(const FleetSetup& setup, const FleetTable& table) {
  return fmt::format("CREATE TABLE IF NOT EXISTS {0}.{1} ({2}) ENGINE = Distributed({3}, {4}, {1})", setup.database,
                     table.name, columns_text(table, true), setup.cluster, setup.shards_database());
}

}  // namespace

const std::vector<FleetTable>& fleet_tables() {
  static const std::vector<FleetTable> tables = make_tables();
  return tables;
}

const FleetTable& fleet_table(SqlTable which) {
  const std::vector<FleetTable>& tables = fleet_tables();
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const FleetTable& table) {
    return table.source != nullptr && table.source->table == which;
  });
  PENNA_CHECK(found != tables.end());
  return *found;
}

std::vector<std::string> row_columns(const FleetTable& table) {
  std::vector<std::string> names = {"shard", "day"};
  for (const FleetColumn& column : table.columns) names.push_back(column.name);
  if (table.order != FleetOrder::kDictionary) names.insert(names.end(), {"service", "host"});
  names.insert(names.end(), {"row", "block", "attempt"});
  return names;
}

std::vector<std::string> fleet_statements(const FleetSetup& setup) {
  constexpr std::string_view kVoid = "shard UInt8, day Date, block UInt64";
  constexpr std::string_view kSetup = "shard UInt8, format Int64, keep_days Int64";
  const std::string shards = setup.shards_database();
  std::vector<std::string> all = {fmt::format("CREATE DATABASE IF NOT EXISTS {}", setup.database)};
  if (shards != setup.database) all.push_back(fmt::format("CREATE DATABASE IF NOT EXISTS {}", shards));
  all.push_back(
      fmt::format("CREATE TABLE IF NOT EXISTS {}.void_block ({}) ENGINE = MergeTree PARTITION BY "
                  "toYYYYMM(day) ORDER BY block",
                  shards, kVoid));
  all.push_back(fmt::format("CREATE TABLE IF NOT EXISTS {}.fleet_setup ({}) ENGINE = MergeTree ORDER BY format",
                            setup.database, kSetup));
  for (const FleetTable& table : fleet_tables()) {
    all.push_back(rows_statement(setup, table));
    all.push_back(view_statement(setup, table));
  }
  if (shards == setup.database) return all;
  all.push_back(distributed(setup, "void_block", std::string(kVoid)));
  for (const FleetTable& table : fleet_tables()) {
    all.push_back(distributed(setup, table.name + "_rows", columns_text(table, false)));
    all.push_back(distributed_view(setup, table));
  }
  return all;
}

}  // namespace penna

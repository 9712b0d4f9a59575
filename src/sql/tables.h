// SPDX-License-Identifier: MIT
// The SQL tables of a recording: name, columns, types, units and keys of each, and a sentence about each.
//
// Why one list: the engines' schemas, docs/sql.md and the rows themselves are generated from it, so that they cannot
// differ.
// Invariant: a table's columns are in the order of its enum in columns.h, which is used to write the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace penna {

enum class SqlType : uint8_t {
  kInteger,  // 64 bits, signed
  kBoolean,
  kText,
  kUtc,   // a moment: nanoseconds since 1970
  kJson,  // an object as text
};
const char* sql_type_name(SqlType type);  // DuckDB's name for it: "BIGINT"

struct SqlColumn {
  const char* name;
  SqlType type;
  const char* unit;     // "ns", "bytes"; "": none
  const char* key;      // "" or the column it refers to: "thread.id"; "key" for the table's own key
  const char* meaning;  // a few words, without a period
};

enum class SqlTable : uint8_t {
  kRecording,
  kProcess,
  kThread,
  kModule,
  kSymbol,
  kStack,
  kFrame,
  kEvent,
  kCall,
  kAllocation,
  kWait,
  kHold,
  kPoint,
  kSpan,
  kCounter,
  kHealth,
};
inline constexpr size_t kSqlTables = 16;

struct SqlTableDescription {
  SqlTable table;
  const char* name;
  const char* rows;  // a sentence: what a row is
  std::span<const SqlColumn> columns;
  // The parameters that its rows can be selected by, before names are resolved or rows reach the engine.
  bool by_thread, by_time, by_function;
};

std::span<const SqlTableDescription> sql_tables();  // in the order of SqlTable
inline const SqlTableDescription& description_of(SqlTable table) { return sql_tables()[static_cast<size_t>(table)]; }
const SqlTableDescription* find_sql_table(std::string_view name);  // null if there is none

// The section of docs/sql.md that a test compares.
std::string sql_tables_markdown();

}  // namespace penna

// SPDX-License-Identifier: MIT
// The tables of a recording as SQL has them: name, columns, types, units and keys of each, and a sentence on all of it.
//
// Why one list: the engines' schemas, docs/sql.md and the rows themselves are made of it, so that they cannot differ.
// Invariant: the columns of a table stand in the order of its enum in columns.h, which the rows are written by.
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
const char* sql_type_name(SqlType type);  // as DuckDB calls it: "BIGINT"

struct SqlColumn {
  const char* name;
  SqlType type;
  const char* unit;     // "ns", "bytes"; "": none
  const char* key;      // "" or what it leads to: "thread.id"; of the table's own key "key"
  const char* meaning;  // a few words, without a full stop
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
  // Which parameters its rows can be chosen by, before anything is named or handed to the engine.
  bool by_thread, by_time, by_function;
};

std::span<const SqlTableDescription> sql_tables();  // in the order of SqlTable
inline const SqlTableDescription& description_of(SqlTable table) { return sql_tables()[static_cast<size_t>(table)]; }
const SqlTableDescription* find_sql_table(std::string_view name);  // null: there is none

// All of it as the section of docs/sql.md that a test compares.
std::string sql_tables_markdown();

}  // namespace penna

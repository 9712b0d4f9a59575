// SPDX-License-Identifier: MIT
// SqlDatabase: DuckDB in memory, with recordings as its tables.
//
// Why table functions: nothing is imported; a query reads what it needs from a recording, on as many processors as it
// has threads. DuckDB's C API tells a table function which columns are wanted, but not the filters: rows of a thread, a
// time or a function are selected by parameters, `call(of_thread := 3, since := 0, until := 1000000)`; DuckDB applies
// all other filters itself.
// Invariant: no file is written and no extension loaded unless a statement of the user says so.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/duckdb/api.h"
#include "sql/source.h"

namespace penna {

// A statement's result: its rows, chunk by chunk.
class SqlResult {
 public:
  SqlResult(const DuckApi& api, DuckResult result) : api_(&api), result_(result) {}
  SqlResult(SqlResult&& other) noexcept;
  SqlResult& operator=(SqlResult&&) = delete;
  ~SqlResult();

  bool has_rows() const;  // false: a statement without rows, such as CREATE
  size_t columns() const;
  std::string column(size_t index) const;
  DuckType type(size_t index) const { return types_.empty() ? nullptr : types_[index]; }
  // Some rows; null at the end. The error is DuckDB's.
  Result<DuckChunk> next();
  void done(DuckChunk chunk) const { api_->destroy_data_chunk(&chunk); }
  const DuckApi& api() const { return *api_; }

 private:
  friend class SqlDatabase;
  const DuckApi* api_;
  DuckResult result_;
  std::vector<DuckType> types_;
};

class SqlDatabase {
 public:
  // `sources` must outlive it. `path`: a database file; empty: in memory.
  static Result<std::unique_ptr<SqlDatabase>> open(const DuckApi& api,
                                                   const std::vector<std::unique_ptr<SqlSource>>& sources,
                                                   const std::string& path = "");
  ~SqlDatabase();

  // Runs all statements in `text`, one after the other; each result is passed to `take`, which returns false to stop.
  // The error is in DuckDB's own words.
  Result<> run(const std::string& text, const std::function<Result<bool>(SqlResult&)>& take);
  Result<> run(const std::string& text) {
    return run(text, [](SqlResult&) -> Result<bool> { return true; });
  }
  // Interrupts the running query; callable from any thread and from signal handlers.
  void interrupt() const { api_.interrupt(connection_); }

 private:
  SqlDatabase(const DuckApi& api, const std::vector<std::unique_ptr<SqlSource>>& sources);
  Result<> connect(const std::string& path);
  Result<> add_tables();

  DuckApi api_;
  const std::vector<std::unique_ptr<SqlSource>>& sources_;
  DuckDatabase database_ = nullptr;
  DuckConnection connection_ = nullptr;
  struct Registered;
  std::vector<std::unique_ptr<Registered>> registered_;
};

// A text, or with '"' a name, quoted for SQL.
std::string sql_quoted(std::string_view text, char quote = '\'');
// The views and macros beside the tables, as SQL.
std::string sql_macros();

}  // namespace penna

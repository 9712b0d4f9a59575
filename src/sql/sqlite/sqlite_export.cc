// SPDX-License-Identifier: MIT
// See sqlite_export.h. One transaction without a journal: the caller deletes an unfinished file.
#include "sql/sqlite/sqlite_export.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/loaded_library.h"
#include "sql/scan.h"

namespace penna {
namespace {

#define PENNA_SQLITE_FUNCTIONS(of)                                                                             \
  of(open_v2) of(close) of(errmsg) of(exec) of(prepare_v2) of(bind_int64) of(bind_text) of(bind_null) of(step) \
      of(reset) of(finalize)
struct SqliteApi {
#define PENNA_SQLITE(name) decltype(&sqlite3_##name) name;
  PENNA_SQLITE_FUNCTIONS(PENNA_SQLITE)
#undef PENNA_SQLITE
};

Result<SqliteApi> load_sqlite() {
  LoadedLibrary library("libsqlite3.so.0");
  if (!library) return Error{fmt::format("cannot load SQLite ({}): install libsqlite3-0", library.error())};
  SqliteApi api{};
#define PENNA_SQLITE(name) library.find(api.name, "sqlite3_" #name);
  PENNA_SQLITE_FUNCTIONS(PENNA_SQLITE)
#undef PENNA_SQLITE
  if (library.missing() != nullptr)
    return Error{"the system's libsqlite3.so.0 is none that penna knows: install libsqlite3-0"};
  return api;
}

bool is_text(SqlType type) { return type == SqlType::kText || type == SqlType::kJson; }

// SQLite has no type for moments: `utc` stays a number.
std::string create_text(const SqlTableDescription& table) {
  std::string text = fmt::format("CREATE TABLE \"{}\" (", table.name);
  for (const SqlColumn& column : table.columns)
    text += fmt::format("{}\"{}\" {}{}", &column == table.columns.data() ? "" : ", ", column.name,
                        is_text(column.type) ? "TEXT" : "INTEGER",
                        std::string_view(column.key) == "key" ? " PRIMARY KEY" : "");
  return text + ")";
}

std::string insert_text(const SqlTableDescription& table) {
  std::string text = fmt::format("INSERT INTO \"{}\" VALUES (", table.name);
  for (size_t i = 0; i < table.columns.size(); ++i) text += i == 0 ? "?" : ",?";
  return text + ")";
}

class Database {
 public:
  explicit Database(const SqliteApi& api) : api_(api) {}
  Database(const Database&) = delete;
  ~Database() {
    if (insert_ != nullptr) api_.finalize(insert_);
    if (handle_ != nullptr) api_.close(handle_);
  }

  Result<> open(const std::string& path) {
    return check(api_.open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr));
  }
  Result<> run(const std::string& text) { return check(api_.exec(handle_, text.c_str(), nullptr, nullptr, nullptr)); }
  Result<> prepare(const std::string& text) {
    if (insert_ != nullptr) api_.finalize(std::exchange(insert_, nullptr));
    return check(api_.prepare_v2(handle_, text.c_str(), static_cast<int>(text.size()), &insert_, nullptr));
  }
  Result<> add(const SqlTableDescription& table, const RowBatch& batch, size_t row) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const int at = static_cast<int>(i) + 1;
      if (batch.valid(i)[row] == 0)
        api_.bind_null(insert_, at);
      else if (const std::string_view* texts = batch.texts(i); is_text(table.columns[i].type))
        api_.bind_text(insert_, at, texts[row].data(), static_cast<int>(texts[row].size()), SQLITE_STATIC);
      else
        api_.bind_int64(insert_, at, batch.numbers(i)[row]);
    }
    const int done = api_.step(insert_);
    api_.reset(insert_);
    return check(done == SQLITE_DONE ? SQLITE_OK : done);
  }

 private:
  Result<> check(int code) const {
    if (code == SQLITE_OK) return ok();
    return Error{fmt::format("SQLite: {}", handle_ == nullptr ? "out of memory" : api_.errmsg(handle_))};
  }
  const SqliteApi& api_;
  sqlite3* handle_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

Result<> write_table(SqlSource& source, const SqlTableDescription& table, Database& database,
                     const std::function<void(uint64_t)>& step) {
  PENNA_TRY(database.run(create_text(table)));
  PENNA_TRY(database.prepare(insert_text(table)));
  ScanRequest request;
  for (uint32_t column = 0; column < table.columns.size(); ++column) request.wanted.push_back(column);
  RowBatch batch(request.wanted, table.columns.size());
  for (ScanPart& part : scan_table(source, table.table, request)) {
    while (part->fill(batch)) {
      for (size_t row = 0; row < batch.rows(); ++row) PENNA_TRY(database.add(table, batch, row));
      step(batch.rows());
      batch.clear();
    }
    part.reset();
  }
  return ok();
}

}  // namespace

Result<> export_sqlite(SqlSource& source, const std::string& path, const std::function<void(uint64_t)>& step) {
  const SqliteApi api = PENNA_TRY(load_sqlite());
  Database database(api);
  PENNA_TRY(database.open(path));
  PENNA_TRY(database.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN"));
  for (const SqlTableDescription& table : sql_tables()) PENNA_TRY(write_table(source, table, database, step));
  return database.run("COMMIT");
}

}  // namespace penna

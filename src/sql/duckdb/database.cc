// SPDX-License-Identifier: MIT
// See database.h.
#include "sql/duckdb/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "export/text/utf8.h"
#include "sql/duckdb/table_functions.h"

namespace penna {

SqlResult::SqlResult(SqlResult&& other) noexcept
    : api_(other.api_), result_(std::exchange(other.result_, {})), types_(std::exchange(other.types_, {})) {}

SqlResult::~SqlResult() {
  for (DuckType& type : types_) api_->destroy_logical_type(&type);
  if (result_.internal_data != nullptr) api_->destroy_result(&result_);
}

bool SqlResult::has_rows() const { return api_->result_return_type(result_) == kDuckQueryResult; }
size_t SqlResult::columns() const { return types_.size(); }
std::string SqlResult::column(size_t index) const {
  return api_->column_name(const_cast<DuckResult*>(&result_), index);
}

Result<DuckChunk> SqlResult::next() {
  DuckChunk chunk = api_->fetch_chunk(result_);
  if (chunk != nullptr) return chunk;
  // Streamed: errors on the way are reported here.
  if (const char* error = api_->result_error(&result_); error != nullptr && *error != '\0') return Error{error};
  return chunk;
}

struct SqlDatabase::Registered {
  DuckTable table;
};

SqlDatabase::SqlDatabase(const DuckApi& api, const std::vector<std::unique_ptr<SqlSource>>& sources)
    : api_(api), sources_(sources) {}

SqlDatabase::~SqlDatabase() {
  if (connection_ != nullptr) api_.disconnect(&connection_);
  if (database_ != nullptr) api_.close(&database_);
}

Result<std::unique_ptr<SqlDatabase>> SqlDatabase::open(const DuckApi& api,
                                                       const std::vector<std::unique_ptr<SqlSource>>& sources,
                                                       const std::string& path) {
  std::unique_ptr<SqlDatabase> database(new SqlDatabase(api, sources));
  PENNA_TRY(database->connect(path));
  PENNA_TRY(database->add_tables());
  return database;
}

Result<> SqlDatabase::connect(const std::string& path) {
  DuckConfig config = nullptr;
  if (api_.create_config(&config) != 0) return Error{"DuckDB does not start"};
  // A query must not download anything by naming it.
  for (const char* name : {"autoinstall_known_extensions", "autoload_known_extensions"})
    api_.set_config(config, name, "false");
  char* error = nullptr;
  const int failed = api_.open_ext(path.empty() ? nullptr : path.c_str(), &database_, config, &error);
  api_.destroy_config(&config);
  if (failed != 0) {
    const std::string text = error == nullptr ? "DuckDB does not open its database" : error;
    api_.free(error);
    return Error{text};
  }
  if (api_.connect(database_, &connection_) != 0) return Error{"DuckDB does not connect"};
  return ok();
}

std::string sql_quoted(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote) result += quote;
    if (c != '\0') result += c;
  }
  return result += quote;
}

namespace {

const char* type_of_argument(uint8_t type) {
  switch (type) {
    case PENNA_ARG_INT: return "BIGINT";
    case PENNA_ARG_UINT: return "UBIGINT";
    case PENNA_ARG_FLOAT: return "DOUBLE";
    case PENNA_ARG_BOOL: return "BOOLEAN";
    default: return "VARCHAR";
  }
}

// DuckDB's schemas and ours: a recording's views must not replace these.
bool is_taken_schema(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const std::string_view taken : {"main", "temp", "system", "memory", "information_schema", "pg_catalog"})
    if (lower == taken) return true;
  return false;
}

// A JSON path has no way to quote these.
bool can_be_in_path(std::string_view name) { return name.find_first_of("\"\\") == std::string_view::npos; }

// A view of each point, PROVIDER.NAME, with a column for each argument. A name described twice, with different
// arguments, has those of the first. Names come from recordings: those that cannot name a view are only in the table
// point.
std::vector<std::string> point_views(const std::vector<std::unique_ptr<SqlSource>>& sources) {
  constexpr size_t kMostViews = 2000;
  std::set<std::pair<std::string, std::string>> known;
  std::vector<std::string> views;
  for (const auto& source : sources)
    for (const RecordedProcess& process : source->recording().processes())
      for (const Site& site : process.sites) {
        if (site.kind != PENNA_SITE_EVENT && site.kind != PENNA_SITE_SPAN) continue;
        if (site.provider.empty() || site.name.empty() || known.size() == kMostViews) continue;
        const std::string provider = valid_utf8(site.provider), name = valid_utf8(site.name);
        if (is_taken_schema(provider) || !known.emplace(provider, name).second) continue;
        std::string& text = views.emplace_back();
        text += fmt::format("CREATE SCHEMA IF NOT EXISTS {};\n", sql_quoted(provider, '"'));
        text += fmt::format("CREATE OR REPLACE VIEW {}.{} AS SELECT recording, process, thread, call, time, utc, stack",
                            sql_quoted(provider, '"'), sql_quoted(name, '"'));
        std::set<std::string> taken = {"recording", "process", "thread", "call", "time", "utc", "stack"};
        for (size_t i = 0; i < site.arguments.size(); ++i) {
          const std::string& own = site.arguments[i].name;
          const std::string key = valid_utf8(own.empty() ? fmt::format("arg{}", i + 1) : own);
          if (!can_be_in_path(key) || !taken.insert(key).second) continue;
          text += fmt::format(", TRY_CAST(json_extract_string(args, {}) AS {}) AS {}",
                              sql_quoted("$." + sql_quoted(key, '"')), type_of_argument(site.arguments[i].type),
                              sql_quoted(key, '"'));
        }
        text += fmt::format(" FROM main.point() WHERE provider = {} AND name = {};\n", sql_quoted(provider),
                            sql_quoted(name));
      }
  return views;
}

}  // namespace

Result<> SqlDatabase::add_tables() {
  std::string views;
  for (const SqlTableDescription& table : sql_tables()) {
    registered_.push_back(std::make_unique<Registered>(Registered{{api_, sources_, table}}));
    PENNA_TRY(register_table(connection_, registered_.back()->table));
    views += fmt::format("CREATE VIEW {0} AS SELECT * FROM {0}();\n", table.name);
  }
  PENNA_TRY(run(views + sql_macros()));
  for (const std::string& view : point_views(sources_)) (void)run(view);
  return ok();
}

Result<> SqlDatabase::run(const std::string& text, const std::function<Result<bool>(SqlResult&)>& take) {
  DuckStatements statements = nullptr;
  const DuckIndex count = api_.extract_statements(connection_, text.c_str(), &statements);
  struct Extracted {
    const DuckApi& api;
    DuckStatements& statements;
    ~Extracted() { api.destroy_extracted(&statements); }
  } const extracted{api_, statements};
  if (count == 0) {
    const char* error = api_.extract_statements_error(statements);
    if (error != nullptr && *error != '\0') return Error{error};
    return ok();
  }
  for (DuckIndex index = 0; index < count; ++index) {
    DuckPrepared prepared = nullptr;
    struct Prepared {
      const DuckApi& api;
      DuckPrepared& prepared;
      ~Prepared() { api.destroy_prepare(&prepared); }
    } const made{api_, prepared};
    if (api_.prepare_extracted_statement(connection_, statements, index, &prepared) != 0)
      return Error{api_.prepare_error(prepared)};
    DuckPending pending = nullptr;
    struct Pending {
      const DuckApi& api;
      DuckPending& pending;
      ~Pending() { api.destroy_pending(&pending); }
    } const planned{api_, pending};
    if (api_.pending_prepared_streaming(prepared, &pending) != 0) return Error{api_.pending_error(pending)};
    DuckResult given;
    const int failed = api_.execute_pending(pending, &given);
    SqlResult result(api_, given);
    if (failed != 0) {
      const char* error = api_.result_error(&given);
      return Error{error == nullptr ? "DuckDB gives no reason" : error};
    }
    const DuckIndex columns = api_.column_count(&given);
    for (DuckIndex column = 0; column < columns; ++column)
      result.types_.push_back(api_.column_logical_type(&given, column));
    if (!PENNA_TRY(take(result))) return ok();
  }
  return ok();
}

}  // namespace penna

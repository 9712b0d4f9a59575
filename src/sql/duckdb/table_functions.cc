// SPDX-License-Identifier: MIT
// See table_functions.h. DuckDB calls bind() once per mention in a query, init() when it runs, local_init() on each
// thread, and then rows() on all of them at once. No exception may leave these.
#include "sql/duckdb/table_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "base/pattern.h"
#include "sql/scan.h"

namespace penna {
namespace {

template <typename T>
void destroy(void* value) {
  delete static_cast<T*>(value);
}

// State of one mention in a query.
struct Bound {
  const DuckTable& table;
  ScanRequest request;
};

// State of one run: the parts of all recordings, which threads take one after the other.
struct Running {
  const DuckTable& table;
  ScanRequest request;
  std::vector<ScanPart> parts;
  std::atomic<size_t> next = 0;
  std::vector<uint32_t> places;  // by place in `wanted`: the column's place in DuckDB's chunk
};

// State of one thread.
struct Local {
  RowBatch batch;
  size_t given = 0;  // rows of the batch handed out
  Scan* part = nullptr;
};

class TypeOf {
 public:
  TypeOf(const DuckApi& api, SqlType type) : api_(api) {
    switch (type) {
      case SqlType::kInteger: type_ = api.create_logical_type(kDuckBigint); break;
      case SqlType::kBoolean: type_ = api.create_logical_type(kDuckBoolean); break;
      case SqlType::kUtc: type_ = api.create_logical_type(kDuckTimestampNs); break;
      case SqlType::kText:
      case SqlType::kJson: type_ = api.create_logical_type(kDuckVarchar); break;
    }
    if (type == SqlType::kJson) api.logical_type_set_alias(type_, "JSON");
  }
  TypeOf(const TypeOf&) = delete;
  ~TypeOf() { api_.destroy_logical_type(&type_); }
  DuckType get() const { return type_; }

 private:
  const DuckApi& api_;
  DuckType type_ = nullptr;
};

class Parameter {
 public:
  Parameter(const DuckApi& api, DuckBind bind, const char* name)
      : api_(api), value_(api.bind_get_named_parameter(bind, name)) {}
  Parameter(const Parameter&) = delete;
  ~Parameter() {
    if (value_ != nullptr) api_.destroy_value(&value_);
  }
  bool is_given() const { return value_ != nullptr && !api_.is_null_value(value_); }
  int64_t number() const { return api_.get_int64(value_); }
  std::string text() const {
    char* const copy = api_.get_varchar(value_);
    std::string result = copy == nullptr ? "" : copy;
    api_.free(copy);
    return result;
  }

 private:
  const DuckApi& api_;
  DuckValue value_;
};

// Callbacks get no pointer of ours, so the API is global: a process has one library.
const DuckApi* the_api = nullptr;

Result<ScanRequest> request_of(const DuckTable& table, DuckBind info) {
  ScanRequest request;
  if (table.table.by_thread)
    if (const Parameter thread(table.api, info, "of_thread"); thread.is_given()) request.thread = thread.number();
  if (table.table.by_time) {
    if (const Parameter since(table.api, info, "since"); since.is_given()) request.since = since.number();
    if (const Parameter until(table.api, info, "until"); until.is_given()) request.until = until.number();
  }
  if (table.table.by_function)
    if (const Parameter function(table.api, info, "of_function"); function.is_given()) {
      PENNA_TRY(check_pattern(function.text()));
      request.function = FunctionPattern(function.text());
    }
  return request;
}

void bind(DuckBind info) {
  const DuckTable& table = *static_cast<const DuckTable*>(the_api->bind_get_extra_info(info));
  Result<ScanRequest> request = request_of(table, info);
  if (!request) return the_api->bind_set_error(info, request.error().text.c_str());
  for (const SqlColumn& column : table.table.columns)
    the_api->bind_add_result_column(info, column.name, TypeOf(*the_api, column.type).get());
  uint64_t rows = 0;
  for (const auto& source : table.sources) rows += estimated_rows(*source, table.table.table);
  the_api->bind_set_cardinality(info, rows, false);
  the_api->bind_set_bind_data(info, new Bound{table, std::move(*request)}, destroy<Bound>);
}

void init(DuckInit info) {
  const Bound& bound = *static_cast<const Bound*>(the_api->init_get_bind_data(info));
  auto* const running = new Running{bound.table, bound.request, {}, {}, {}};
  const DuckIndex columns = the_api->init_get_column_count(info);
  for (DuckIndex place = 0; place < columns; ++place) {
    // count(*) requests a column that does not exist.
    const DuckIndex column = the_api->init_get_column_index(info, place);
    if (column >= bound.table.table.columns.size()) continue;
    running->request.wanted.push_back(static_cast<uint32_t>(column));
    running->places.push_back(static_cast<uint32_t>(place));
  }
  for (const auto& source : bound.table.sources)
    for (ScanPart& part : scan_table(*source, bound.table.table.table, running->request))
      running->parts.push_back(std::move(part));
  the_api->init_set_max_threads(info, std::max<size_t>(running->parts.size(), 1));
  the_api->init_set_init_data(info, running, destroy<Running>);
}

void local_init(DuckInit info) {
  // Called before init()'s data is accessible here: rows() makes the batch.
  the_api->init_set_init_data(info, new std::optional<Local>, destroy<std::optional<Local>>);
}

DuckString pointing_to(std::string_view text) {
  DuckString string{static_cast<uint32_t>(text.size()), {}, {}};
  if (text.size() <= sizeof string.begin + sizeof string.more) {
    std::memcpy(string.begin, text.data(), std::min(text.size(), sizeof string.begin));
    if (text.size() > sizeof string.begin)
      std::memcpy(string.more, text.data() + sizeof string.begin, text.size() - sizeof string.begin);
  } else {
    std::memcpy(string.begin, text.data(), sizeof string.begin);
    string.pointer = text.data();
  }
  return string;
}

void give_texts(const Local& local, size_t slot, size_t rows, DuckVector to) {
  const uint8_t* const valid = local.batch.valid(slot) + local.given;
  const std::string_view* const texts = local.batch.texts(slot) + local.given;
  if (local.batch.has_own_texts(slot)) {
    for (size_t row = 0; row < rows; ++row)
      if (valid[row] != 0) the_api->vector_assign_string_element_len(to, row, texts[row].data(), texts[row].size());
    return;
  }
  // They outlive the database: no copy.
  auto* const strings = static_cast<DuckString*>(the_api->vector_get_data(to));
  for (size_t row = 0; row < rows; ++row)
    if (valid[row] != 0) strings[row] = pointing_to(texts[row]);
}

void give_column(const Running& running, const Local& local, size_t slot, size_t rows, DuckVector to) {
  const uint32_t column = running.request.wanted[slot];
  const SqlType type = running.table.table.columns[column].type;
  const uint8_t* const valid = local.batch.valid(slot) + local.given;
  void* const data = the_api->vector_get_data(to);
  if (type == SqlType::kText || type == SqlType::kJson) {
    give_texts(local, slot, rows, to);
  } else if (const int64_t* numbers = local.batch.numbers(slot) + local.given; type == SqlType::kBoolean) {
    for (size_t row = 0; row < rows; ++row) static_cast<bool*>(data)[row] = numbers[row] != 0;
  } else {
    std::memcpy(data, numbers, rows * sizeof *numbers);
  }
  if (std::memchr(valid, 0, rows) == nullptr) return;
  the_api->vector_ensure_validity_writable(to);
  uint64_t* const bits = the_api->vector_get_validity(to);
  for (size_t row = 0; row < rows; ++row)
    if (valid[row] == 0) bits[row / 64] &= ~(uint64_t{1} << row % 64);
}

// Reads the next rows into the batch; false: no part has any left.
bool read_on(Running& running, Local& local) {
  local.batch.clear();
  local.given = 0;
  for (;;) {
    if (local.part == nullptr) {
      const size_t next = running.next.fetch_add(1);
      if (next >= running.parts.size()) return false;
      local.part = running.parts[next].get();
    }
    if (local.part->fill(local.batch)) return true;
    local.part = nullptr;
  }
}

void rows(DuckCall info, DuckChunk chunk) {
  Running& running = *static_cast<Running*>(the_api->function_get_init_data(info));
  auto& local = *static_cast<std::optional<Local>*>(the_api->function_get_local_init_data(info));
  if (!local) local = Local{RowBatch(running.request.wanted, running.table.table.columns.size())};
  if (local->given == local->batch.rows() && !read_on(running, *local)) return the_api->data_chunk_set_size(chunk, 0);
  const size_t count = std::min<size_t>(local->batch.rows() - local->given, the_api->vector_size());
  for (size_t slot = 0; slot < running.places.size(); ++slot)
    give_column(running, *local, slot, count, the_api->data_chunk_get_vector(chunk, running.places[slot]));
  local->given += count;
  the_api->data_chunk_set_size(chunk, count);
}

}  // namespace

Result<> register_table(DuckConnection connection, DuckTable& table) {
  the_api = &table.api;
  const DuckApi& api = table.api;
  DuckTableFunction function = api.create_table_function();
  api.table_function_set_name(function, table.table.name);
  const TypeOf number(api, SqlType::kInteger), text(api, SqlType::kText);
  if (table.table.by_thread) api.table_function_add_named_parameter(function, "of_thread", number.get());
  if (table.table.by_time) {
    api.table_function_add_named_parameter(function, "since", number.get());
    api.table_function_add_named_parameter(function, "until", number.get());
  }
  if (table.table.by_function) api.table_function_add_named_parameter(function, "of_function", text.get());
  api.table_function_set_extra_info(function, &table, nullptr);
  api.table_function_set_bind(function, bind);
  api.table_function_set_init(function, init);
  api.table_function_set_local_init(function, local_init);
  api.table_function_set_function(function, rows);
  api.table_function_supports_projection_pushdown(function, true);
  const int failed = api.register_table_function(connection, function);
  api.destroy_table_function(&function);
  if (failed != 0) return Error{fmt::format("DuckDB does not take the table {}", table.table.name)};
  return ok();
}

}  // namespace penna

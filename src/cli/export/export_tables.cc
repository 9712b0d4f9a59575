// SPDX-License-Identifier: MIT
// See export_tables.h.
#include "cli/export/export_tables.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/user_directories.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/sql/sql_sources.h"
#include "sql/duckdb/database.h"
#include "sql/duckdb/engine.h"
#include "sql/sqlite/sqlite_export.h"
#include "sql/tables.h"

namespace penna {
namespace {

// A place beside the output in which a file of any name can be made.
class BesideOutput {
 public:
  explicit BesideOutput(std::string output) : output_(std::move(output)) {}
  Result<std::string> file() {
    auto made = ScratchDirectory::make_in(std::filesystem::path(output_).parent_path().string());
    if (!made) return Error{fmt::format("cannot write {}: {}", output_, made.error().text)};
    directory_.emplace(std::move(*made));
    return directory_->path() + "/new";
  }
  // With the usual mode: the user's umask applies.
  Result<> put_in_place() const {
    const std::string made = directory_->path() + "/new";
    if (::rename(made.c_str(), output_.c_str()) == 0) return ok();
    return Error{fmt::format("cannot write {}: {}", output_, errno_text(errno))};
  }

 private:
  std::string output_;
  std::optional<ScratchDirectory> directory_;
};

Result<SqlSources> sources_of(const ExportWork& work) {
  const InputOptions& input = work.options.input;
  // Owned by the caller.
  const std::shared_ptr<const Recording> recording(&work.recording, [](const Recording*) {});
  SqlSources sources;
  sources.push_back(
      PENNA_TRY(SqlSource::open(recording, 0, open_symbols(input, *recording), name_style(input, Format::kCsv))));
  return sources;
}

Result<> check_output(const ExportWork& work) {
  const std::string& path = work.options.output;
  if (path.empty() || path == "-")
    return Error{fmt::format("{0} is a file: name it, as in 'penna export {0} REC -o FILE'", work.options.format)};
  if (is_same_file(path, work.recording.path()))
    return Error{fmt::format("{} is the recording itself: choose another output", path)};
  return ok();
}

int status_of(const Result<>& done) { return done ? 0 : fail("export", done.error().text); }

Result<> make_sqlite(ExportWork& work) {
  PENNA_TRY(check_output(work));
  const SqlSources sources = PENNA_TRY(sources_of(work));
  BesideOutput beside(work.options.output);
  const std::string path = PENNA_TRY(beside.file());
  PENNA_TRY(export_sqlite(*sources[0], path, [&](uint64_t rows) { work.progress.step(rows); }));
  work.analyses.walk = sources[0]->walk();
  return beside.put_in_place();
}

Result<> make_duckdb(ExportWork& work) {
  PENNA_TRY(check_output(work));
  const DuckApi api = PENNA_TRY(load_sql_engine());
  const SqlSources sources = PENNA_TRY(sources_of(work));
  BesideOutput beside(work.options.output);
  const std::string path = PENNA_TRY(beside.file());
  {
    const std::unique_ptr<SqlDatabase> database = PENNA_TRY(SqlDatabase::open(api, sources));
    PENNA_TRY(database->run(fmt::format("ATTACH {} AS exported", sql_quoted(path))));
    for (const SqlTableDescription& table : sql_tables())
      PENNA_TRY(database->run(fmt::format("CREATE TABLE exported.main.{0} AS FROM main.{0}()", table.name)));
    PENNA_TRY(database->run("USE exported;" + sql_macros() + "USE memory; DETACH exported"));
  }
  work.analyses.walk = sources[0]->walk();
  return beside.put_in_place();
}

Result<> make_parquet(ExportWork& work) {
  const DuckApi api = PENNA_TRY(load_sql_engine());
  const SqlSources sources = PENNA_TRY(sources_of(work));
  const std::unique_ptr<SqlDatabase> database = PENNA_TRY(SqlDatabase::open(api, sources));
  for (const SqlTableDescription& table : sql_tables())
    PENNA_TRY(database->run(
        fmt::format("COPY (FROM {0}()) TO '/proc/self/fd/{1}/{0}.parquet' (FORMAT parquet, COMPRESSION zstd)",
                    table.name, work.directory.get())));
  work.analyses.walk = sources[0]->walk();
  return ok();
}

}  // namespace

int write_sqlite(ExportWork& work) { return status_of(make_sqlite(work)); }
int write_duckdb(ExportWork& work) { return status_of(make_duckdb(work)); }
int write_parquet(ExportWork& work) { return status_of(make_parquet(work)); }

}  // namespace penna

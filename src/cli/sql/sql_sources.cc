// SPDX-License-Identifier: MIT
// See sql_sources.h.
#include "cli/sql/sql_sources.h"

#include <fmt/format.h>

#include "analysis/analyses.h"
#include "cli/input.h"
#include "report/reports.h"

namespace penna {

Result<SqlSources> open_sql_sources(const InputOptions& options, const std::vector<std::string>& paths) {
  const std::vector<std::string> wanted = paths.empty() ? std::vector<std::string>{""} : paths;
  if (wanted.size() > SqlSource::kMostRecordings)
    return Error{
        fmt::format("{} recordings are too many at once: SQL takes {}", wanted.size(), SqlSource::kMostRecordings)};
  SqlSources sources;
  for (const std::string& path : wanted) {
    InputOptions input = options;
    input.recording = path;
    auto recording = std::make_shared<const Recording>(PENNA_TRY(open_input(input)));
    std::unique_ptr<SymbolSource> symbols = open_symbols(input, *recording);
    sources.push_back(PENNA_TRY(SqlSource::open(std::move(recording), static_cast<uint32_t>(sources.size()),
                                                std::move(symbols), name_style(input, Format::kCsv))));
  }
  return sources;
}

std::vector<std::string> sql_warnings(const SqlSources& sources) {
  std::vector<std::string> all;
  for (const auto& source : sources) {
    Analyses read;
    read.walk = source->walk();
    const std::vector<std::string> warnings = source->with_names(
        [&](Names& names) { return health_warnings(examine(source->recording(), source->summary(), read, names)); });
    for (const std::string& warning : warnings)
      all.push_back(sources.size() == 1 ? warning : fmt::format("{}: {}", source->recording().path(), warning));
  }
  return all;
}

}  // namespace penna

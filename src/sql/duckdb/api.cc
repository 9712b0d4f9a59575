// SPDX-License-Identifier: MIT
// See api.h.
#include "sql/duckdb/api.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/loaded_library.h"

namespace penna {
namespace {

// It runs with our privileges, so anyone who can write to it or replace it would gain them.
Result<> check_owner(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/'));
  for (const std::string& each : {directory, path}) {
    struct stat facts;
    if (::stat(each.c_str(), &facts) != 0) return Error{fmt::format("cannot read {}", each)};
    const bool is_ours = facts.st_uid == ::geteuid() || facts.st_uid == 0;
    if (!is_ours || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return Error{
          fmt::format("{} can be changed by other users, and is not loaded: chmod go-w it, or remove it", each)};
  }
  return ok();
}

}  // namespace

Result<DuckApi> DuckApi::load(const std::string& path) {
  PENNA_TRY(check_owner(path));
  LoadedLibrary library(path);
  if (!library)
    return Error{fmt::format("cannot load DuckDB ({}); it needs libstdc++6 of the system", library.error())};
  DuckApi api;
#define PENNA_DUCKDB(type, name, parameters) library.find(api.name, "duckdb_" #name);
#include "sql/duckdb/api.inc"
#undef PENNA_DUCKDB
  if (library.missing() != nullptr)
    return Error{fmt::format("{} is no DuckDB {}: it has no {}; run 'penna sql --install'", path, kDuckVersion,
                             library.missing())};
  std::string_view version = api.library_version();
  if (version.starts_with('v')) version.remove_prefix(1);
  if (version != kDuckVersion)
    return Error{fmt::format("{} is DuckDB {}, and this Penna knows {}: run 'penna sql --install'", path, version,
                             kDuckVersion)};
  return api;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See saved_queries.h.
#include "cli/sql/saved_queries.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>

#include "base/directory.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/user_directories.h"
#include "sql/tables.h"

namespace penna {
namespace {

constexpr std::string_view kQueryEnding = ".sql";

std::optional<std::string> query_directory() {
  std::optional<std::string> config = user_directory("XDG_CONFIG_HOME", ".config");
  if (config) *config += "/penna/sql";
  return config;
}

}  // namespace

Result<> check_query_name(const std::string& name) {
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  constexpr size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest || name[0] == '-' || !std::all_of(name.begin(), name.end(), is_letter))
    return Error{fmt::format("'{}' is no name for a query: use up to {} letters, digits, _ and -", name, kLongest)};
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (find_sql_table(lower) != nullptr)
    return Error{fmt::format("{} is a table, and cannot be the name of a query: choose another", name)};
  return ok();
}

Result<std::string> save_query(const std::string& name, const std::string& query) {
  PENNA_TRY(check_query_name(name));
  const std::optional<std::string> directory = query_directory();
  if (!directory) return Error{"neither XDG_CONFIG_HOME nor HOME names a directory: set one of them"};
  PENNA_TRY(make_private_directories(*directory));
  const std::string path = fmt::format("{}/{}{}", *directory, name, kQueryEnding);
  Replacement file = PENNA_TRY(Replacement::open(path, {.mode = 0600}));
  PENNA_TRY(empty_file(file.file(), path));
  if (!write_all(file.file(), query + "\n")) return Error{fmt::format("cannot write {}: {}", path, errno_text(errno))};
  PENNA_TRY(file.put_in_place());
  return path;
}

std::optional<std::string> saved_query(const std::string& name) {
  const std::optional<std::string> directory = query_directory();
  if (!directory || !check_query_name(name)) return {};
  const Result<std::string> text = read_file(fmt::format("{}/{}{}", *directory, name, kQueryEnding));
  return text ? std::optional(*text) : std::nullopt;
}

std::vector<std::string> saved_query_names() {
  const std::optional<std::string> directory = query_directory();
  if (!directory) return {};
  std::vector<std::string> names = names_with_ending(*directory, kQueryEnding);
  std::erase_if(names, [](const std::string& name) { return !check_query_name(name); });
  return names;
}

}  // namespace penna

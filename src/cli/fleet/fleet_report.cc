// SPDX-License-Identifier: MIT
// See fleet_report.h.
#include "cli/fleet/fleet_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/count_text.h"
#include "base/printable.h"
#include "cli/fleet/fleet_query.h"

namespace penna {
namespace {

struct FleetReport {
  const char* name;
  const char* title;
  const char* select;  // its columns, as below
  const char* table;
  const char* where;  // in addition to the choice; "": nothing
  const char* group;
  std::vector<TableColumn> columns;
  const char* note;  // below the table; "": none
};

const std::vector<FleetReport>& reports() {
  constexpr TableColumn kHosts{"hosts", "HOSTS", CellKind::kCount};
  static const std::vector<FleetReport> all = {
      {"calls",
       "Calls",
       "sum(duration) AS total, sum(self), count(), max(duration), uniqExact(host), function",
       "call",
       "",
       "function",
       {{"total_ns", "TOTAL", CellKind::kDuration},
        {"self_ns", "SELF", CellKind::kDuration},
        {"calls", "CALLS", CellKind::kCount},
        {"max_ns", "MAX", CellKind::kDuration},
        kHosts,
        {"function", "FUNCTION", CellKind::kText, true}},
       "TOTAL counts a function that calls itself each time."},
      {"alloc",
       "Allocations",
       "sum(bytes) AS total, sum(blocks), max(size), uniqExact(host), function",
       "allocation",
       "family = 'heap'",
       "function",
       {{"self_bytes", "BYTES", CellKind::kBytes},
        {"count", "COUNT", CellKind::kCount},
        {"largest_bytes", "LARGEST", CellKind::kBytes},
        kHosts,
        {"function", "FUNCTION", CellKind::kText, true}},
       ""},
      {"leaks",
       "Leaks",
       "sum(bytes) AS total, sum(blocks), max(size), uniqExact(host), function",
       "allocation",
       "family = 'heap' AND state = 'live'",
       "function",
       {{"leaked_bytes", "LEAKED", CellKind::kBytes},
        {"blocks", "BLOCKS", CellKind::kCount},
        {"largest_bytes", "LARGEST", CellKind::kBytes},
        kHosts,
        {"function", "FUNCTION", CellKind::kText, true}},
       ""},
      {"waits",
       "Waits",
       "sum(duration) AS total, count(), max(duration), uniqExact(host), lock, function, any(holder_function)",
       "wait",
       "",
       "lock, function",
       {{"wait_ns", "WAIT", CellKind::kDuration},
        {"waits", "WAITS", CellKind::kCount},
        {"max_wait_ns", "MAX", CellKind::kDuration},
        kHosts,
        {"lock", "LOCK", CellKind::kText, true},
        {"function", "FUNCTION", CellKind::kText, true},
        {"holder", "ONE HOLDER", CellKind::kText, true}},
       ""},
      {"holds",
       "Holds",
       "sum(duration) AS total, count(), max(duration), uniqExact(host), lock, function",
       "hold",
       "",
       "lock, function",
       {{"hold_ns", "HOLD", CellKind::kDuration},
        {"holds", "HOLDS", CellKind::kCount},
        {"max_hold_ns", "MAX", CellKind::kDuration},
        kHosts,
        {"lock", "LOCK", CellKind::kText, true},
        {"function", "FUNCTION", CellKind::kText, true}},
       ""},
      {"points",
       "Points",
       "count() AS total, uniqExact(host), concat(provider, ':', name) AS place",
       "point",
       "",
       "place",
       {{"hits", "HITS", CellKind::kCount}, kHosts, {"point", "POINT", CellKind::kText, true}},
       ""}};
  return all;
}

const FleetReport* find_report_of_server(const std::string& name) {
  const auto found =
      std::find_if(reports().begin(), reports().end(), [&](const FleetReport& one) { return one.name == name; });
  return found == reports().end() ? nullptr : &*found;
}

// The condition that selects rows by label and day.
std::string choice_of(const ReportOptions& options, const std::string& recording) {
  std::string text = "1";
  for (const auto& [name, value] : options.labels) {
    if (name == "service" || name == "host")
      text += fmt::format(" AND {} = {}", name, fleet_quoted(value));
    else
      text += fmt::format(" AND {} IN (SELECT recording FROM label WHERE name = {} AND value = {})", recording,
                          fleet_quoted(name), fleet_quoted(value));
  }
  if (const auto& range = options.input.filter.range)
    text += fmt::format(" AND day >= toDate({}) AND day < toDate({})", range->value.begin, range->value.end);
  return text;
}

// What the report covers: "3 recordings of 2 hosts, of the labels service=shop, of 2026-11-20..21."
Result<std::string> head_of(FleetServer& server, const ReportOptions& options) {
  const auto rows =
      PENNA_TRY(fleet_rows(server, fmt::format("SELECT count(), uniqExact(host), sum(lost) FROM recording WHERE {}",
                                               choice_of(options, "id"))));
  const auto number_at = [&](size_t column) {
    const int64_t* const value = rows.empty() ? nullptr : std::get_if<int64_t>(&rows[0][column]);
    return value == nullptr ? 0 : *value;
  };
  std::string text = fmt::format("{} of {} at {}", plural_text(number_at(0), "recording"),
                                 plural_text(number_at(1), "host"), server.name());
  for (const auto& [name, value] : options.labels) text += fmt::format(", {}={}", name, value);
  if (options.input.filter.range) text += ", " + options.input.filter.range->text;
  text += number_at(2) == 0 ? "." : fmt::format("; {} could not be recorded.", plural_text(number_at(2), "event"));
  return printable(text);
}

}  // namespace

std::string fleet_report_names() {
  std::string text;
  for (const FleetReport& one : reports())
    text += fmt::format("{}{}", text.empty() ? "" : &one == &reports().back() ? " or " : ", ", one.name);
  return text;
}

Result<> check_fleet_report(const ReportOptions& options) {
  if (!options.input.recording.empty())
    return Error{fmt::format("{} is a recording, and --at asks a server: leave out one", options.input.recording)};
  if (find_report_of_server(options.which) == nullptr)
    return Error{fmt::format("of a server there are the tables {}: 'penna sql --at {}' answers all else",
                             fleet_report_names(), options.server.url)};
  if (options.by && options.by != ReportBy::kFunction)
    return Error{"of a server there is a row for each function: leave out --by, or ask by 'penna sql --at'"};
  const auto& range = options.input.filter.range;
  if (range && !range->value.is_of_days)
    return Error{"the range of a report of a server is of days, as -r 2026-11-20..21"};
  return ok();
}

Result<Report> make_fleet_report(FleetServer& server, const ReportOptions& options) {
  const FleetReport& of = *find_report_of_server(options.which);
  Report report;
  report.head.push_back(PENNA_TRY(head_of(server, options)));
  std::string query = fmt::format("SELECT {} FROM {} WHERE {}", of.select, of.table, choice_of(options, "recording"));
  if (*of.where != '\0') query += fmt::format(" AND {}", of.where);
  query += fmt::format(" GROUP BY {} ORDER BY total DESC", of.group);
  Table table;
  table.key = of.name;
  table.title = of.title;
  table.columns = of.columns;
  for (std::vector<Cell>& row : PENNA_TRY(fleet_rows(server, query))) table.add(std::move(row));
  report.add(std::move(table));
  if (*of.note != '\0') report.tail.emplace_back(of.note);
  return report;
}

}  // namespace penna

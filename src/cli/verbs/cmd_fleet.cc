// SPDX-License-Identifier: MIT
// See cmd_fleet.h.
#include "cli/verbs/cmd_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>

#include "base/say.h"
#include "cli/verbs.h"
#include "fleet/fleet_client.h"
#include "sql/clickhouse/fleet_push.h"
#include "sql/clickhouse/fleet_tables.h"

namespace penna {
namespace {

Result<std::string> ask(FleetServer& server, const std::string& query,
                        std::vector<std::pair<std::string, std::string>> settings = {}) {
  FleetAnswer answer = server.ask({query, {}, std::move(settings)});
  if (!answer.is_done()) return Error{answer.text};
  return std::move(answer.text);
}

Result<std::unique_ptr<FleetServer>> open(const FleetOptions& options, const std::string& url) {
  ServerOptions server = options.server;
  server.url = url;
  return open_fleet_server(server);
}

FleetSetup setup_of(const FleetOptions& options, const std::string& version) {
  return {options.server.database, options.cluster, options.keep_days, is_version_from(version, 19, 6)};
}

Result<> init_one(const FleetOptions& options, const std::string& url) {
  const std::unique_ptr<FleetServer> server = PENNA_TRY(open(options, url));
  const std::string version = PENNA_TRY(fleet_version(*server));
  const FleetSetup setup = setup_of(options, version);
  if (!setup.cluster.empty() &&
      PENNA_TRY(ask(*server, fmt::format("SELECT count() FROM system.clusters WHERE cluster = {}",
                                         fleet_quoted(setup.cluster)))) == "0\n")
    return Error{fmt::format("{} knows no cluster {}: its configuration names it under remote_servers", server->name(),
                             setup.cluster)};
  for (const std::string& statement : fleet_statements(setup)) PENNA_TRY(ask(*server, statement));
  if (PENNA_TRY(ask(*server, fmt::format("SELECT count() FROM {}.fleet_setup", setup.database))) == "0\n")
    PENNA_TRY(ask(*server, fmt::format("INSERT INTO {}.fleet_setup VALUES (0, {}, {})", setup.database, kFleetFormat,
                                       setup.keep_days)));
  const uint32_t days = PENNA_TRY(check_fleet(*server));
  if (days != options.keep_days)
    return Error{
        fmt::format("{} has tables already, which keep rows for {} (--keep {}): make others, in another "
                    "--database",
                    server->name(), days == 0 ? "ever" : fmt::format("{} days", days), days)};
  say(fmt::format("{} (ClickHouse {}) has the tables, in {}", server->name(), version, setup.database));
  if (days != 0 && !setup.knows_ttl)
    say(fmt::format("ClickHouse {} forgets nothing by itself: run 'penna fleet expire {}' once a day", version, url));
  return ok();
}

// In a cluster, a join of two tables must find the second one on each shard, too.
Result<> check_joins(const FleetOptions& options, const std::string& url) {
  if (options.cluster.empty()) return ok();
  const std::unique_ptr<FleetServer> server = PENNA_TRY(open(options, url));
  const FleetAnswer answer =
      server->ask({"SELECT count() FROM recording ALL INNER JOIN label ON label.recording = recording.id",
                   {},
                   {{"database", options.server.database}, {"distributed_product_mode", "global"}}});
  if (answer.is_done()) return ok();
  return Error{
      fmt::format("{}: joins fail in the cluster {}, whose shards each need <default_database>{}"
                  "</default_database> in the servers' configuration ({})",
                  server->name(), options.cluster, options.server.database, answer.text)};
}

std::string date_before(uint32_t days) {
  const std::time_t then =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()) - static_cast<std::time_t>(days) * 86400;
  std::tm date{};
  ::gmtime_r(&then, &date);
  return fmt::format("{:04}-{:02}-{:02}", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
}

// Drops days that are too old, on servers that do not do so themselves.
Result<> expire_one(const FleetOptions& options, const std::string& url) {
  const std::unique_ptr<FleetServer> server = PENNA_TRY(open(options, url));
  const uint32_t days = PENNA_TRY(check_fleet(*server));
  if (days == 0) return Error{fmt::format("the tables of {} keep rows for ever: they were made without --keep", url)};
  const std::string databases = fmt::format("database IN ('{0}', '{0}_shard')", options.server.database);
  const std::string parts = PENNA_TRY(
      ask(*server, fmt::format("SELECT DISTINCT database, table, partition FROM system.parts WHERE active AND {} AND "
                               "partition < '{}' AND match(partition, '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$')",
                               databases, date_before(days))));
  size_t dropped = 0;
  for (const std::vector<std::string>& row : tab_separated(parts)) {
    PENNA_TRY(ask(*server, fmt::format("ALTER TABLE {}.{} DROP PARTITION '{}'", row[0], row[1], row[2])));
    ++dropped;
  }
  const std::string shared = PENNA_TRY(ask(
      *server, fmt::format("SELECT database, name FROM system.tables WHERE {} AND engine LIKE '%MergeTree' AND name "
                           "IN ('stack_rows', 'frame_rows', 'symbol_rows', 'void_block')",
                           databases)));
  for (const std::vector<std::string>& row : tab_separated(shared))
    PENNA_TRY(
        ask(*server, fmt::format("ALTER TABLE {}.{} DELETE WHERE day < '{}'", row[0], row[1], date_before(days * 2))));
  say(fmt::format("{} has dropped {} parts of days before {}", server->name(), dropped, date_before(days)));
  return ok();
}

}  // namespace

Result<Parsed<FleetOptions>> parse_fleet(const Arguments& arguments) {
  Parsed<FleetOptions> parsed;
  FleetOptions& options = parsed.options;
  OptionParser parser("The tables of ClickHouse servers that recordings are pushed to.", "penna fleet");
  parser.about_row("init", "make them, on each of the servers that is named; what is there stays");
  parser.about_row("expire", "drop days that are too old, on servers before 19.6, which do not do so themselves");
  std::vector<std::string> words;
  parser.words("init|expire URL...", words, "what to do, and the servers: http://HOST:8123 or https://HOST:8443");
  parser.text("--cluster", options.cluster, "NAME", "the servers are shards of this cluster of their configuration");
  parser.number("--keep", options.keep_days, "DAYS", "rows go after so many days; default never", 0, 3650);
  add_server_options(parser, options.server);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (words.empty() || (words[0] != "init" && words[0] != "expire"))
    return Error{"say what to do: penna fleet init URL, or penna fleet expire URL"};
  options.what = words[0];
  options.urls.assign(words.begin() + 1, words.end());
  if (options.urls.empty()) return Error{fmt::format("name the server: penna fleet {} http://HOST:8123", words[0])};
  for (const std::string& url : options.urls) PENNA_TRY(server_address(url));
  PENNA_TRY(check_server_options(options.server));
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!std::all_of(options.cluster.begin(), options.cluster.end(), is_word))
    return Error{fmt::format("'{}' is no name of a cluster: use letters, digits and _", options.cluster)};
  return parsed;
}

int cmd_fleet(const FleetOptions& options) {
  const bool is_init = options.what == "init";
  for (const std::string& url : options.urls)
    if (const Result<> done = is_init ? init_one(options, url) : expire_one(options, url); !done)
      return fail("fleet", done.error().text);
  if (const Result<> joins = is_init ? check_joins(options, options.urls[0]) : ok(); !joins)
    return fail("fleet", joins.error().text);
  return 0;
}

int fleet_verb(const Arguments& arguments) { return run_parsed("fleet", parse_fleet(arguments), cmd_fleet); }

}  // namespace penna

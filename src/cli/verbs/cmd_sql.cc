// SPDX-License-Identifier: MIT
// See cmd_sql.h.
#include "cli/verbs/cmd_sql.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/file.h"
#include "base/printable.h"
#include "base/say.h"
#include "cli/fleet/fleet_query.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/sql/saved_queries.h"
#include "cli/sql/sql_console.h"
#include "cli/sql/sql_output.h"
#include "cli/sql/sql_sources.h"
#include "cli/verbs.h"
#include "fleet/fleet_client.h"
#include "options/terminal.h"
#include "sql/duckdb/engine.h"

namespace penna {
namespace {

constexpr int kWrongQuery = 1;

// Ctrl-C ends the query, not penna.
class InterruptibleQuery {
 public:
  explicit InterruptibleQuery(SqlDatabase& database) {
    running = &database;
    struct sigaction action {};
    action.sa_handler = [](int) { running->interrupt(); };
    ::sigaction(SIGINT, &action, &before_);
  }
  InterruptibleQuery(const InterruptibleQuery&) = delete;
  ~InterruptibleQuery() { ::sigaction(SIGINT, &before_, nullptr); }

 private:
  static SqlDatabase* running;
  struct sigaction before_ {};
};
SqlDatabase* InterruptibleQuery::running = nullptr;

// DuckDB points into the text with separate lines: they are kept.
int fail_query(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  const size_t first = text.find('\n');
  say(text.substr(0, first));
  for (size_t at = first; at != std::string::npos;) {
    const size_t next = text.find('\n', at + 1);
    fmt::print(stderr, "{}\n", printable(text.substr(at + 1, next == std::string::npos ? next : next - at - 1)));
    at = next;
  }
  return kWrongQuery;
}

std::string without_end(std::string text) {
  while (!text.empty() && (text.back() == ';' || std::isspace(static_cast<unsigned char>(text.back())) != 0))
    text.pop_back();
  return text;
}

Result<Output> open_output_of(const SqlOptions& options) {
  return options.output.empty() || options.output == "-" ? Output::paged(!options.table.no_pager)
                                                         : Output::create(options.output);
}

int run_query(SqlDatabase& database, const SqlOptions& options, const std::string& query) {
  const InterruptibleQuery interruptible(database);
  if (options.parquet) {
    // DuckDB writes the file itself; the query runs by itself first, so that an error points into it.
    const Result<> written =
        database.run(fmt::format("COPY ({}\n) TO {} (FORMAT parquet)", without_end(query), sql_quoted(options.output)));
    return written ? 0 : fail_query(written.error().text);
  }
  Result<Output> file = open_output_of(options);
  if (!file) return fail("sql", file.error().text);
  const Result<> done =
      database.run(query, [&](SqlResult& result) { return write_sql_result(result, options.table, *file); });
  if (!done) {
    (void)file->finish();
    return fail_query(done.error().text);
  }
  return finish_output(*file);
}

Result<std::string> query_of(const SqlOptions& options) {
  if (options.query) return *options.query;
  if (!options.file.empty() && options.file != "-") {
    Result<std::string> text = read_file(options.file);
    if (!text) return text.error();
    return text;
  }
  return read_file("/dev/stdin");
}

// Of a server, which is asked over HTTP.
int ask_server(const SqlOptions& options) {
  const Result<std::unique_ptr<FleetServer>> server = open_fleet_server(options.server);
  if (!server) return fail("sql", server.error().text);
  const Result<std::string> query = query_of(options);
  if (!query) return fail("sql", query.error().text);
  Result<Output> file = open_output_of(options);
  if (!file) return fail("sql", file.error().text);
  const Result<bool> done = write_fleet_answer(**server, *query, options.table, *file);
  if (done) return finish_output(*file);
  (void)file->finish();
  return fail_query(done.error().text);
}

// Is the word a recording? A query has blanks, and names no file.
bool is_recording(const std::string& word) {
  return word == "-" || ::access(word.c_str(), F_OK) == 0 || word.ends_with(".penna") ||
         word.find_first_of(" \n\t") == std::string::npos;
}

Result<> check_save(const SqlOptions& options) {
  PENNA_TRY(check_query_name(options.save));
  if (!options.query && options.file.empty())
    return Error{fmt::format("there is no query to save: penna sql --save {} 'SELECT ...'", options.save)};
  if (!options.recordings.empty())
    return Error{fmt::format("--save takes a query and no recording: leave out {}", options.recordings[0])};
  return ok();
}

int save(const SqlOptions& options) {
  const Result<std::string> query = query_of(options);
  if (!query) return fail("sql", query.error().text);
  const Result<std::string> path = save_query(options.save, *query);
  if (!path) return fail("sql", path.error().text);
  say(fmt::format("{} is saved: penna sql {}", options.save, options.save));
  return 0;
}

// A name and the beginning of its query in each line.
int list_saved(const SqlOptions& options) {
  constexpr size_t kShown = 60;
  Result<Output> file = open_output_of(options);
  if (!file) return fail("sql", file.error().text);
  for (const std::string& name : saved_query_names()) {
    std::string query = saved_query(name).value_or("");
    std::replace(query.begin(), query.end(), '\n', ' ');
    query = without_end(printable(query));
    if (query.size() > kShown) query = query.substr(0, kShown) + "...";
    (void)file->write(fmt::format("{:<20} {}\n", name, query));
  }
  return finish_output(*file);
}

void add_query_options(OptionParser& parser, SqlOptions& options) {
  parser.section("Query");
  parser.text("-f,--file", options.file, "FILE", "the query is in FILE; - is standard input");
  parser.text("--at", options.server.url, "URL",
              "ask the tables of this ClickHouse server, which recordings were pushed to, in its own SQL");
  parser.text("--save", options.save, "NAME",
              "save the query, and do not run it: 'penna sql NAME [REC...]' does, and --at URL too; an earlier one of "
              "that name is replaced");
  parser.flag("--saved", options.show_saved, "list the saved queries, which are files in $XDG_CONFIG_HOME/penna/sql");
  parser.flag("--install", options.install, "get DuckDB, by npm, into $XDG_DATA_HOME/penna, and end");
}

enum class OutputFormat { kTable, kCsv, kJson, kParquet };

void add_output_options(OptionParser& parser, SqlOptions& options, OutputFormat& format) {
  parser.section("Output");
  parser.choice("--format", format,
                {{"table", OutputFormat::kTable},
                 {"csv", OutputFormat::kCsv},
                 {"json", OutputFormat::kJson},
                 {"parquet", OutputFormat::kParquet}},
                "a table that fits the terminal, or rows for programs; parquet needs -o");
  parser.shorthand("--json", format, OutputFormat::kJson, "the same as --format json");
  parser.text("-o,--output", options.output, "FILE", "default standard output");
  parser.number("-n,--top", options.table.top, "N", "rows of a table, 0 for all; default 25");
  parser.flag("--wide", options.table.wide, "all columns and whole names; lines may wrap");
  add_color_option(parser, options.table.color);
  parser.flag("--no-pager", options.table.no_pager, "no $PAGER (default less -FRX) on a terminal");
}

// A word is a saved query, a recording or the query, in this order; a file of that name is no saved query.
Result<> take_words(const std::vector<std::string>& words, SqlOptions& options) {
  for (const std::string& word : words) {
    const std::optional<std::string> saved = ::access(word.c_str(), F_OK) == 0 ? std::nullopt : saved_query(word);
    if (!saved && is_recording(word)) {
      options.recordings.push_back(word);
    } else if (!options.query) {
      options.query = saved.value_or(word);
    } else {
      return Error{fmt::format("there are two queries, '{}' and '{}': write one, with ; between its statements",
                               *options.query, word)};
    }
  }
  if (!options.input.recording.empty()) options.recordings.insert(options.recordings.begin(), options.input.recording);
  return ok();
}

Result<> check_sql_options(const SqlOptions& options) {
  if (options.query && !options.file.empty()) return Error{"there is a query and a --file: leave out one"};
  if (options.parquet && (options.output.empty() || options.output == "-"))
    return Error{"parquet is a file: name it, as in 'penna sql --format parquet -o calls.parquet ...'"};
  if (!options.server.url.empty() && !options.recordings.empty())
    return Error{fmt::format("{} is a recording, and --at asks a server: leave out one", options.recordings[0])};
  if (!options.server.url.empty() && options.parquet)
    return Error{"--at gives tables, CSV and JSON: choose one of them"};
  return ok();
}

}  // namespace

Result<Parsed<SqlOptions>> parse_sql(const Arguments& arguments) {
  Parsed<SqlOptions> parsed;
  SqlOptions& options = parsed.options;
  std::vector<std::string> words;
  OptionParser parser(
      "Answers a query in SQL about one recording or several: tables call, allocation, wait, hold, point, span and "
      "others, without an import. By DuckDB, which --install gets.",
      "penna sql");
  parser.words("[REC...] ['QUERY']", words,
               "recordings, default the newest *.penna here, and the query, or the name of a saved one; without one it "
               "is read from standard input, at a terminal with history and completion");
  add_input_options(parser, options.input);
  add_thread_options(parser, options.input.threads);
  add_query_options(parser, options);
  OutputFormat format = OutputFormat::kTable;
  add_output_options(parser, options, format);
  add_server_options(parser, options.server);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  PENNA_TRY(check_server_options(options.server));
  options.table.format = format == OutputFormat::kCsv    ? Format::kCsv
                         : format == OutputFormat::kJson ? Format::kJson
                                                         : Format::kTable;
  options.parquet = format == OutputFormat::kParquet;
  PENNA_TRY(take_words(words, options));
  if (!options.save.empty()) PENNA_TRY(check_save(options));
  PENNA_TRY(check_sql_options(options));
  return parsed;
}

int cmd_sql(const SqlOptions& options) {
  if (options.install) {
    const Result<std::string> path = install_sql_engine();
    if (!path) return fail("sql", path.error().text);
    say(fmt::format("DuckDB {} is {}", kDuckVersion, *path));
    return 0;
  }
  if (options.show_saved) return list_saved(options);
  if (!options.save.empty()) return save(options);
  if (!options.server.url.empty()) return ask_server(options);
  const Result<DuckApi> api = load_sql_engine();
  if (!api) return fail("sql", api.error().text);
  const Result<SqlSources> sources = open_sql_sources(options.input, options.recordings);
  if (!sources) return fail("sql", sources.error().text);
  const Result<std::unique_ptr<SqlDatabase>> database = SqlDatabase::open(*api, *sources);
  if (!database) return fail("sql", database.error().text);
  if (!options.query && options.file.empty() && is_terminal(0) && is_terminal(1)) {
    for (const std::string& warning : sql_warnings(*sources)) say(warning);
    run_sql_console(**database, [&](const std::string& text) { (void)run_query(**database, options, text); });
    return 0;
  }
  const Result<std::string> query = query_of(options);
  if (!query) return fail("sql", query.error().text);
  const int status = run_query(**database, options, *query);
  for (const std::string& warning : sql_warnings(*sources)) say(warning);
  return status;
}

int sql_verb(const Arguments& arguments) { return run_parsed("sql", parse_sql(arguments), cmd_sql); }

}  // namespace penna

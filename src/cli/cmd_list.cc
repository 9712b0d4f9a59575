// SPDX-License-Identifier: MIT
// See cmd_list.h.
#include "cli/cmd_list.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "base/file.h"
#include "cli/list_program.h"
#include "cli/verbs.h"
#include "report/units.h"

namespace penna {
namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_program_file(const std::string& path) {
  const Result<std::string> start = read_file(path, 4);
  return start && (*start ==
                       "\x7f"
                       "ELF" ||
                   start->substr(0, 2) == "#!");
}

Report recording_report(const Recording& recording) {
  PointTable points;
  Table modules;
  modules.key = "modules";
  modules.title = "Code";
  modules.columns = {{"build_id", "BUILD-ID", CellKind::kText}, {"path", "FILE", CellKind::kText, true}};
  std::set<std::pair<std::string, std::string>> seen;
  for (const RecordedProcess& process : recording.processes()) {
    for (const Site& site : process.sites) points.add(site);
    for (const Module& module : process.modules) {
      const std::string build_id = build_id_text(module.build_id);
      if (seen.insert({module.path, build_id}).second) modules.add({build_id, module.path});
    }
  }
  Report report;
  Table table = points.take();
  if (table.rows.empty()) {
    report.head.push_back("No points were found in the recorded programs.");
  } else {
    table.title = plural_text(static_cast<int64_t>(table.rows.size()), "point");
    report.tables.push_back(std::move(table));
  }
  if (!modules.rows.empty()) report.tables.push_back(std::move(modules));
  return report;
}

Result<Report> report_of(const ListOptions& options) {
  std::string path = options.target;
  if (path.find('/') == std::string::npos && !exists(path)) path = find_program(path);
  if (path.empty()) return Error{fmt::format("there is no file '{}' here and no program of that name", options.target)};
  if (is_program_file(path)) return program_report(path, symbol_options(options.input));
  const Recording recording = PENNA_TRY(Recording::open(path));
  return recording_report(recording);
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

Result<Parsed<ListOptions>> parse_list(const Arguments& arguments) {
  Parsed<ListOptions> parsed;
  OptionParser parser("Lists the points of a program or of a recording, and what can be recorded of a program.",
                      "penna list");
  parser.word("BIN|REC", parsed.options.target, "a program, a library or a recording", OptionParser::Need::kRequired);
  add_symbol_options(parser, parsed.options.input);
  add_table_options(parser, parsed.options.table, true);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.options.table.top) parsed.options.table.top = 0;
  return parsed;
}

int cmd_list(const ListOptions& options) {
  Result<Report> report = report_of(options);
  if (!report) return fail(report.error().text);
  if (const Result<> selected = select_report_rows(*report, options.table); !selected)
    return fail(selected.error().text);
  Output output;
  write_report(*report, options.table, output);
  return finish_output(output);
}

int list_verb(const Arguments& arguments) { return run_parsed("list", parse_list(arguments), cmd_list); }

}  // namespace penna

// SPDX-License-Identifier: MIT
// See cmd_list.h.
#include "cli/verbs/cmd_list.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "base/file.h"
#include "base/find_program.h"
#include "base/whole_number.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/output/table_output.h"
#include "cli/targets/dry_run.h"
#include "cli/targets/list_process.h"
#include "cli/targets/point_listing.h"
#include "cli/verbs.h"
#include "report/columns.h"

namespace penna {
namespace {

// By its first bytes, not its name: ELF, or a script, whose interpreter is then listed.
bool is_program_file(const std::string& path) {
  const Result<std::string> start = read_file(path, 4);
  return start && (*start ==
                       "\x7f"
                       "ELF" ||
                   start->substr(0, 2) == "#!");
}

struct ListedModule {
  std::string build_id, path;
};

Table modules_table(std::vector<ListedModule> modules) {
  const Columns<ListedModule> columns = {
      {{"build_id", "BUILD-ID", CellKind::kText}, [](const ListedModule& module) { return module.build_id; }},
      {{"path", "FILE", CellKind::kText, true}, [](const ListedModule& module) { return module.path; }}};
  Table table;
  table.key = "modules";
  table.title = "Code";
  columns.fill(table, std::move(modules));
  return table;
}

// The points of the recorded processes, by name; the same library in two processes is listed once.
ListReport recording_report(const Recording& recording) {
  PointList points;
  std::vector<ListedModule> modules;
  std::set<std::pair<std::string, std::string>> seen;
  for (const RecordedProcess& process : recording.processes()) {
    for (const Site& site : process.sites) points.add(site);
    for (const Module& module : process.modules) {
      const std::string build_id = build_id_text(module.build_id);
      if (seen.insert({module.path, build_id}).second) modules.push_back({build_id, module.path});
    }
  }
  ListReport list;
  list.report.add(modules_table(std::move(modules)));
  list.add_points(points.take(), "No points were found in the recorded programs.");
  return list;
}

// A number is a process, unless a file of that name exists. A file that begins like a program is one, else a recording,
// whose reader says what is wrong with it.
Result<ListReport> report_of(const ListOptions& options) {
  PENNA_TRY(check_symbol_options(options.input));
  const auto pid = whole_number<uint32_t>(options.target);
  if (options.changes && !pid) return Error{fmt::format("--changes is for a process: '{}' is no PID", options.target)};
  if (options.changes) {
    RecordOptions recording;
    recording.pids = {static_cast<int>(*pid)};
    ListReport list;
    list.report = PENNA_TRY(changes_report(recording));
    return list;
  }
  if (pid && ::access(options.target.c_str(), F_OK) != 0) return process_report(*pid, symbol_options(options.input));
  if (options.target == "-") return recording_report(PENNA_TRY(open_recording("-")));
  const std::string path = program_path(options.target);
  if (path.empty()) return no_such_program(options.target);
  if (is_program_file(path)) return program_report(path, symbol_options(options.input));
  const Recording recording = PENNA_TRY(Recording::open(path));
  return recording_report(recording);
}

}  // namespace

Result<Parsed<ListOptions>> parse_list(const Arguments& arguments) {
  Parsed<ListOptions> parsed;
  OptionParser parser(
      "Lists the points of a program, of a running process or of a recording, and what can be recorded of a program.\n"
      "Points of a program are all its static tracepoints, also those that other headers made (SDT notes): probes,\n"
      "which penna record -e NAME records.",
      "penna list");
  parser.word("BIN|PID|REC", parsed.options.target, "a program or library, a process, or a recording",
              OptionParser::Need::kRequired);
  parser.section("What is listed");
  parser.flag("--changes", parsed.options.changes,
              "of a process: every byte that penna record -p would change there, found out in a copy of it");
  add_symbol_options(parser, parsed.options.input);
  add_table_options(parser, parsed.options.table, true);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  // A list is complete unless -n says otherwise.
  if (!parsed.options.table.top) parsed.options.table.top = 0;
  return parsed;
}

// JSON writes the points themselves, text the table's cells: places and types are lists, which no cell can represent.
int cmd_list(const ListOptions& options) {
  Result<ListReport> list = report_of(options);
  if (!list) return fail(list.error().text);
  if (const Result<> selected = select_report_rows(list->report, options.table); !selected)
    return fail(selected.error().text);
  Output output = Output::paged(!options.table.no_pager);
  write_report(list->report, options.table, output, {"points", [&](const TableRow& row, JsonWriter& json) {
                                                       write_point(list->points[row.source], list->in_process, json);
                                                     }});
  return finish_output(output);
}

int list_verb(const Arguments& arguments) { return run_parsed("list", parse_list(arguments), cmd_list); }

}  // namespace penna

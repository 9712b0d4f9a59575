// SPDX-License-Identifier: MIT
// See cmd_doctor.h.
#include "cli/verbs/cmd_doctor.h"

#include <unistd.h>

#include <algorithm>

#include "base/find_program.h"
#include "base/say.h"
#include "base/whole_number.h"
#include "cli/output/output.h"
#include "cli/output/table_output.h"
#include "cli/targets/doctor.h"
#include "cli/verbs.h"
#include "report/columns.h"

namespace penna {
namespace {

// Exit status. 1 is used by lint and check for findings.
constexpr int kDoesNotWork = 2;

const char* word_of(Diagnosis verdict) {
  switch (verdict) {
    case Diagnosis::kOk: return "ok";
    case Diagnosis::kLimited: return "limited";
    default: return "no";
  }
}

// A number is a process, unless a file of that name exists: the same rule as in penna list.
Result<DoctorFindings> examine(const std::string& target) {
  if (target.empty()) return examine_system();
  if (const auto pid = whole_number<pid_t>(target); pid && ::access(target.c_str(), F_OK) != 0)
    return examine_process(*pid);
  const std::string path = program_path(target);
  if (path.empty()) return no_such_program(target);
  return examine_program(path);
}

// In text a remedy is below its row, as it is longer than a column can be; CSV and JSON have it as a field.
Table table_of(const DoctorFindings& findings) {
  const Columns<DoctorFinding> columns = {
      {{"check", "CHECK", CellKind::kText}, [](const DoctorFinding& one) { return one.check; }},
      {{"verdict", "VERDICT", CellKind::kText}, [](const DoctorFinding& one) { return word_of(one.verdict); }},
      {prose({"what", "WHAT", CellKind::kText}), [](const DoctorFinding& one) { return one.what; }},
      {{.key = "remedy", .title = "REMEDY", .kind = CellKind::kText, .machine_only = true},
       [](const DoctorFinding& one) { return one.remedy; }}};
  Table table;
  table.key = "checks";
  columns.fill(table, findings);
  for (size_t i = 0; i < findings.size(); ++i)
    if (!findings[i].remedy.empty()) table.rows[i].details.push_back({"-> " + findings[i].remedy, ""});
  return table;
}

}  // namespace

Result<Parsed<DoctorOptions>> parse_doctor(const Arguments& arguments) {
  Parsed<DoctorOptions> parsed;
  OptionParser parser(
      "Says what works here and how to fix what does not: of this system, of a process for penna record -p, or of a\n"
      "program. Nothing is changed. Exit status: 0 all that is needed works, 2 something does not.",
      "penna doctor");
  parser.word("PID|BIN", parsed.options.target, "a process or a program; without it, this system",
              OptionParser::Need::kOptional);
  add_table_options(parser, parsed.options.table, false);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  return parsed;
}

// A finding that is only limited does not count as a failure: there is an alternative.
int cmd_doctor(const DoctorOptions& options) {
  const auto findings = examine(options.target);
  if (!findings) return fail(findings.error().text);
  Report report;
  report.add(table_of(*findings));
  Output output = Output::paged(!options.table.no_pager);
  write_report(report, options.table, output);
  const int status = finish_output(output);
  const bool works = std::none_of(findings->begin(), findings->end(),
                                  [](const DoctorFinding& one) { return one.verdict == Diagnosis::kNo; });
  return status != 0 ? status : works ? 0 : kDoesNotWork;
}

int doctor_verb(const Arguments& arguments) { return run_parsed("doctor", parse_doctor(arguments), cmd_doctor); }

}  // namespace penna

// SPDX-License-Identifier: MIT
// See cmd_lint.h.
#include "cli/verbs/cmd_lint.h"

#include <fmt/format.h>

#include <set>

#include "base/find_program.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/output/table_output.h"
#include "cli/verbs.h"
#include "report/columns.h"
#include "report/units.h"
#include "symbols/elf/elf_facts.h"
#include "symbols/points/sdt_lint.h"
#include "symbols/symbol_file.h"

namespace penna {
namespace {

// The exit status if there are findings, as in other linters.
constexpr int kFound = 1;

// Data about one file. Kept until the report is written, because findings point into it.
struct LintedFile {
  std::string path;
  // All SDT notes of the file, with or without a finding.
  size_t notes = 0;
  SdtLint lint;
  std::unique_ptr<SymbolFile> symbols;  // null: none
};

// Both point into `files` of cmd_lint(), which no longer changes once findings are collected.
struct Finding {
  const LintedFile* file;
  const SdtFinding* finding;
};

// Reads one file. It may be replaced meanwhile (a build): unchanged() rejects a mixture of both.
Result<LintedFile> lint_file(const std::string& target, const SymbolOptions& options) {
  const std::string path = program_path(target);
  if (path.empty()) return no_such_program(target);
  const ElfFacts facts = PENNA_TRY(read_elf_facts(path));
  if (!facts.is_elf)
    return Error{fmt::format("{} is neither an ELF file nor a script: name programs or libraries", target)};
  const ElfFile file = PENNA_TRY(ElfFile::open(facts.elf_path()));
  LintedFile linted;
  linted.path = facts.elf_path();
  linted.lint = lint_sdt(file);
  linted.notes = read_sdt_notes(file).size();
  PENNA_TRY(file.unchanged());
  // Reading symbols takes longer than all the rest.
  if (linted.lint.findings.empty()) return linted;
  Result<std::unique_ptr<SymbolFile>> symbols = SymbolFile::open({facts.elf_path(), facts.build_id}, options);
  if (symbols) linted.symbols = std::move(*symbols);
  return linted;
}

// Without inlined frames: the macro's own line matters. Empty if unknown.
FrameName source_of(const Finding& found) {
  if (found.file->symbols == nullptr || found.finding->pc == 0) return {};
  const std::vector<FrameName> frames = found.file->symbols->frames(found.finding->pc, false);
  return frames.empty() ? FrameName{} : frames[0];
}

std::string source_text(const FrameName& frame) {
  return frame.file.empty() ? std::string(frame.function) : fmt::format("{}:{}", frame.file, frame.line);
}

// `many_files`: with one file its name is in the headline, and a column for it would only take width. The source is
// looked up only for shown rows (Fill::kWhenShown), because that reads DWARF.
Columns<Finding> finding_columns(bool many_files) {
  return {
      {{"trap", "TRAP", CellKind::kText}, [](const Finding& found) { return sdt_trap_facts(found.finding->trap).id; }},
      {{"point", "POINT", CellKind::kText, true},
       [](const Finding& found) { return Cell{found.finding->point.empty() ? "(the file)" : found.finding->point}; }},
      {{"detail", "FOUND", CellKind::kText, true}, [](const Finding& found) { return found.finding->detail; }},
      {{"address", "ADDRESS", CellKind::kAddress, false, true},
       [](const Finding& found) {
         return found.finding->pc == 0 ? Cell{} : Cell{static_cast<int64_t>(found.finding->pc)};
       }},
      {minor({"source", "SOURCE", CellKind::kText, true}),
       [](const Finding& found) { return source_text(source_of(found)); }, Fill::kWhenShown},
      {minor({"file", "FILE", CellKind::kText, true, !many_files}),
       [](const Finding& found) { return found.file->path; }}};
}

Table findings_table(const std::vector<Finding>& findings, bool many_files) {
  Table table;
  table.key = "findings";
  finding_columns(many_files).fill(table, findings);
  return table;
}

// For each trap found: what it is, breaks and needs, once.
std::vector<std::string> explanations(const std::vector<Finding>& findings) {
  std::set<SdtTrap> traps;
  for (const Finding& found : findings) traps.insert(found.finding->trap);
  std::vector<std::string> sentences;
  for (SdtTrap trap : traps) {
    const SdtTrapFacts& facts = sdt_trap_facts(trap);
    if (!sentences.empty()) sentences.emplace_back();
    sentences.push_back(fmt::format("{}: {}.", facts.id, facts.what));
    for (const ClientEffect& broken : facts.breaks)
      sentences.push_back(fmt::format("  {}: {}.", broken.client, broken.effect));
    sentences.push_back(fmt::format("  Fix: {}", facts.fix));
  }
  return sentences;
}

// JSON has the explanation in each finding: programs should not have to join.
void write_finding(const Finding& found, JsonWriter& json) {
  const SdtFinding& finding = *found.finding;
  const SdtTrapFacts& facts = sdt_trap_facts(finding.trap);
  const FrameName source = source_of(found);
  json.field("trap", facts.id);
  json.field("file", found.file->path);
  json.key("point");
  finding.point.empty() ? json.null() : json.value(finding.point);
  json.field("detail", finding.detail);
  json.key("address");
  finding.pc == 0 ? json.null() : json.address(finding.pc);
  json.field("source", source_text(source));
  json.field("what", facts.what);
  json.key("breaks");
  json.begin_object();
  for (const ClientEffect& broken : facts.breaks) json.field(broken.client, broken.effect);
  json.end_object();
  json.field("fix", facts.fix);
}

}  // namespace

Result<Parsed<LintOptions>> parse_lint(const Arguments& arguments) {
  Parsed<LintOptions> parsed;
  OptionParser parser(
      "Looks for traps in the static tracepoints (SDT notes) of programs and libraries, whatever header made them:\n"
      "what gdb, bpftrace, perf and libbpf cannot read or get wrong. Exit status: 0 clean, 1 something was found.",
      "penna lint");
  parser.words("BIN...", parsed.options.targets, "programs or libraries");
  add_symbol_options(parser, parsed.options.input);
  add_table_options(parser, parsed.options.table, true);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (parsed.options.targets.empty()) return Error{"a program is missing: name one or more"};
  // All findings: a list cut to ten would look like a nearly finished clean-up.
  if (!parsed.options.table.top) parsed.options.table.top = 0;
  return parsed;
}

// The steps of a lint. An unreadable file ends it: a clean result must cover everything that was named.
int cmd_lint(const LintOptions& options) {
  if (const Result<> servers = check_symbol_options(options.input); !servers) return fail(servers.error().text);
  std::vector<LintedFile> files;
  for (const std::string& target : options.targets) {
    Result<LintedFile> file = lint_file(target, symbol_options(options.input));
    if (!file) return fail(file.error().text);
    files.push_back(std::move(*file));
  }
  // All files have been read; pointers into `files` stay valid from here on.
  std::vector<Finding> findings;
  size_t notes = 0, left_out = 0;
  for (const LintedFile& file : files) {
    for (const SdtFinding& finding : file.lint.findings) findings.push_back({&file, &finding});
    notes += file.notes;
    left_out += file.lint.left_out;
  }
  // The headline, the explanations (text only) and the table.
  Report report;
  const std::string in = files.size() == 1 ? files[0].path : plural_text(static_cast<int64_t>(files.size()), "file");
  const std::string looked_at = plural_text(static_cast<int64_t>(notes), "note");
  if (findings.empty()) {
    report.head.push_back(fmt::format("No trap in {} of {}.", looked_at, in));
  } else {
    const std::string found = plural_text(static_cast<int64_t>(findings.size() + left_out), "finding");
    report.head.push_back(fmt::format("{} in {} of {}.", found, looked_at, in));
    if (options.table.format == Format::kTable) report.tail = explanations(findings);
  }
  report.tables.push_back(findings_table(findings, files.size() > 1));
  if (left_out != 0) report.warnings.push_back(fmt::format("{} findings are left out: there are too many.", left_out));
  if (const Result<> selected = select_report_rows(report, options.table); !selected)
    return fail(selected.error().text);
  Output output = Output::paged(!options.table.no_pager);
  // A row's `source` is the number of its finding before rows were sorted and cut.
  write_report(report, options.table, output,
               {"findings", [&](const TableRow& row, JsonWriter& json) { write_finding(findings[row.source], json); }});
  const int status = finish_output(output);
  return status != 0 ? status : findings.empty() ? 0 : kFound;
}

int lint_verb(const Arguments& arguments) { return run_parsed("lint", parse_lint(arguments), cmd_lint); }

}  // namespace penna

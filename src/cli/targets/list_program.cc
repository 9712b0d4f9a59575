// SPDX-License-Identifier: MIT
// See list_program.h.
#include "cli/targets/list_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/file.h"
#include "cli/targets/point_listing.h"
#include "plan/call_sites.h"
#include "reach/start/standalone_program.h"
#include "report/facts.h"
#include "report/frames.h"
#include "report/units.h"
#include "symbols/elf/elf_facts.h"

namespace penna {
namespace {

// How it is linked, and what that means for penna record.
std::string linking(const ElfFacts& facts) {
  if (!facts.is_program) return "shared library";
  if (facts.is_static)
    return why_no_standalone_agent(facts.elf_path()).empty() ? "static: the agent comes alone"
                                                             : "static: penna record records it by breakpoints";
  std::string text = fmt::format("dynamic, {}", facts.interpreter);
  if (facts.setuid) text += "; setuid or with capabilities: penna record runs it, and records nothing";
  return text;
}

// The places that compilers leave in functions. Also searched for in the code: -mnop-mcount may leave no section that
// lists them.
CallSites call_sites(const ElfFacts& facts, SymbolFile* symbols) {
  auto file = ElfFile::open(facts.elf_path());
  if (!file || symbols == nullptr) return {};
  std::vector<uint64_t> starts;
  for (const Symbol& symbol : symbols->functions()) starts.push_back(symbol.start);
  std::sort(starts.begin(), starts.end());
  return find_call_sites(*file, starts);
}

std::string calls_text(const ElfFacts& facts, SymbolFile* symbols) {
  const CallSites sites = call_sites(facts, symbols);
  std::vector<std::string> options = facts.call_options;
  if (options.empty() && !sites.sites.empty()) options.emplace_back("-pg -mfentry -mnop-mcount");
  if (options.empty()) return "no: it was not built for them; penna record --all-functions records them";
  std::string text = fmt::format("yes, built with {}", fmt::join(options, " and "));
  if (sites.too_short != 0)
    text += fmt::format("; not of {} whose nops have no room: -fpatchable-function-entry=5 has it",
                        plural_text(static_cast<int64_t>(sites.too_short), "function", "functions"));
  return text;
}

std::string alloc_text(const ElfFacts& facts) {
  if (facts.is_program && facts.is_static) return "yes, functions called malloc and so on, if it is not stripped";
  return facts.defines_malloc ? "its own malloc: recorded where it is called across libraries"
                              : "yes, malloc of the C library";
}

std::string symbols_text(const ModuleStatus& status) {
  switch (status.level) {
    case SymbolLevel::kNone: return "none";
    case SymbolLevel::kDynamic: return "exported functions only";
    case SymbolLevel::kSymbols: return "all functions, no source lines";
    case SymbolLevel::kDwarf: return "all functions, with source lines";
  }
  return "";
}

Table facts_table(const ElfFacts& facts, SymbolFile* symbols) {
  Facts rows;
  rows.add("file", facts.elf_path());
  if (facts.chain.size() > 1 || facts.path != facts.elf_path())
    rows.add("started by", fmt::format("{} (a script)", facts.path));
  rows.add("machine", fmt::format("{}, {} bits", facts.machine_name, facts.bits));
  rows.add("kind", linking(facts));
  rows.add("build-id", build_id_text(facts.build_id));
  rows.add("calls", calls_text(facts, symbols));
  rows.add("allocations", alloc_text(facts));
  rows.add("locks", "yes, pthread mutexes and condition variables");
  if (symbols != nullptr) {
    const ModuleStatus& status = symbols->status();
    rows.add("names", symbols_text(status) + (status.debug_file.empty() ? "" : ", from " + status.debug_file));
    rows.add("functions", count_text(static_cast<int64_t>(symbols->functions().size())));
    rows.add("advice", status.advice);
  }
  return rows.take("program");
}

}  // namespace

void ListReport::add_points(std::vector<ListedPoint> listed, const std::string& none) {
  points = std::move(listed);
  Table table = points_table(points, in_process);
  if (points.empty()) {
    report.tail.push_back(none);
  } else {
    table.title = plural_text(static_cast<int64_t>(points.size()), "point");
  }
  report.tables.insert(report.tables.begin(), std::move(table));
}

Result<ListReport> program_report(const std::string& path, const SymbolOptions& options) {
  const ElfFacts facts = PENNA_TRY(read_elf_facts(path));
  if (!facts.is_elf)
    return Error{fmt::format("{} is neither an ELF file nor a script: name a program, a library or a recording", path)};
  const ElfFile file = PENNA_TRY(ElfFile::open(facts.elf_path()));
  if (file.build_id() != facts.build_id) return changed_while_read(facts.elf_path());
  Result<std::unique_ptr<SymbolFile>> symbols = SymbolFile::open({facts.elf_path(), facts.build_id}, options);
  SymbolFile* const names = symbols ? symbols->get() : nullptr;

  ListReport list;
  list.report.tables.push_back(facts_table(facts, names));
  PointList points;
  points.add(file, names);
  list.add_points(points.take(), "It has no points (static tracepoints) of its own.");
  PENNA_TRY(file.unchanged());
  if (!symbols) list.report.warnings.push_back(symbols.error().text);
  return list;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See list_program.h.
#include "cli/list_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <elf.h>
#include <algorithm>

#include "cli/point_sites.h"
#include "report/frames.h"
#include "report/units.h"
#include "symbols/elf_facts.h"
#include "symbols/sdt_notes.h"

namespace penna {
namespace {

const char* type_name(uint8_t type) {
  switch (type) {
    case PENNA_ARG_INT: return "int";
    case PENNA_ARG_UINT: return "uint";
    case PENNA_ARG_FLOAT: return "float";
    case PENNA_ARG_POINTER: return "pointer";
    case PENNA_ARG_STRING: return "string";
    case PENNA_ARG_BOOL: return "bool";
    case PENNA_ARG_CHAR: return "char";
    case PENNA_ARG_ARRAY: return "array";
    default: return "unknown";
  }
}

// "rows int, table string".
std::string arguments_of(const Site& site) {
  std::string text;
  for (const SiteArgument& argument : site.arguments)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", argument.name, argument.name.empty() ? "" : " ",
                        type_name(argument.type));
  return text;
}

std::string linking(const ElfFacts& facts) {
  if (!facts.is_program) return "shared library";
  if (facts.is_static) return "static: penna record runs it, and records nothing";
  std::string text = fmt::format("dynamic, {}", facts.interpreter);
  if (facts.setuid) text += "; setuid or with capabilities: penna record runs it, and records nothing";
  return text;
}

std::string calls_text(const ElfFacts& facts) {
  return facts.instrumented ? "yes, built with -finstrument-functions" : "no: build it with -finstrument-functions";
}

std::string alloc_text(const ElfFacts& facts) {
  if (facts.is_program && facts.is_static) return "no";
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
  Table table;
  table.key = "program";
  table.columns = {{"field", "", CellKind::kText}, {"value", "", CellKind::kText, true}};
  const auto add = [&](const char* field, std::string value) {
    if (!value.empty()) table.add({std::string(field), std::move(value)});
  };
  add("file", facts.elf_path());
  if (facts.chain.size() > 1 || facts.path != facts.elf_path())
    add("started by", fmt::format("{} (a script)", facts.path));
  add("machine", fmt::format("{}, {} bits", facts.machine_name, facts.bits));
  add("kind", linking(facts));
  add("build-id", build_id_text(facts.build_id));
  add("calls", calls_text(facts));
  add("allocations", alloc_text(facts));
  add("locks", facts.is_program && facts.is_static ? "no" : "yes, pthread mutexes and condition variables");
  if (symbols != nullptr) {
    const ModuleStatus& status = symbols->status();
    add("names", symbols_text(status) + (status.debug_file.empty() ? "" : ", from " + status.debug_file));
    add("functions", count_text(static_cast<int64_t>(symbols->functions().size())));
    add("advice", status.advice);
  }
  return table;
}

std::string source_of(SymbolFile* symbols, uint64_t pc) {
  if (symbols == nullptr) return "";
  const std::vector<FrameName> frames = symbols->frames(pc, false);
  if (frames.empty()) return "";
  const FrameName& frame = frames[0];
  return frame.file.empty() ? std::string(frame.function) : fmt::format("{}:{}", frame.file, frame.line);
}

Table points_of(const ElfFile& file, SymbolFile* symbols) {
  PointTable own, all;
  const std::vector<Site> sites = read_point_sites(file);
  for (const Site& site : sites) own.add(site);
  all = own;
  // Points of ours have notes too; those of others only have notes.
  for (const SdtNote& note : read_sdt_notes(file)) {
    const std::string point = note.provider + ":" + note.name;
    if (!own.has(point)) all.add(point, note.args, source_of(symbols, note.pc), note.pc);
  }
  return all.take();
}

}  // namespace

PointTable::PointTable() {
  table_.key = "points";
  table_.columns = {{"point", "POINT", CellKind::kText, true},
                    {"arguments", "ARGUMENTS", CellKind::kText, true},
                    {"copies", "COPIES", CellKind::kCount},
                    {"address", "ADDRESS", CellKind::kAddress, false, true},
                    {"source", "SOURCE", CellKind::kText, true}};
}

void PointTable::add(const std::string& point, const std::string& arguments, const std::string& source,
                     uint64_t address) {
  for (TableRow& row : table_.rows) {
    if (std::get<std::string>(row.cells[0]) != point || std::get<std::string>(row.cells[1]) != arguments ||
        std::get<std::string>(row.cells[4]) != source)
      continue;
    ++std::get<int64_t>(row.cells[2]);
    return;
  }
  table_.add({point, arguments, int64_t{1}, static_cast<int64_t>(address), source});
}

void PointTable::add(const Site& site) {
  add(site.provider + ":" + site.name, arguments_of(site),
      site.file.empty() ? "" : fmt::format("{}:{}", site.file, site.line), site.address);
}

bool PointTable::has(const std::string& point) const {
  return std::any_of(table_.rows.begin(), table_.rows.end(),
                     [&](const TableRow& row) { return std::get<std::string>(row.cells[0]) == point; });
}

Result<Report> program_report(const std::string& path, const SymbolOptions& options) {
  const ElfFacts facts = PENNA_TRY(read_elf_facts(path));
  if (!facts.is_elf)
    return Error{fmt::format("{} is neither an ELF file nor a script: name a program, a library or a recording", path)};
  const ElfFile file = PENNA_TRY(ElfFile::open(facts.elf_path()));
  Result<std::unique_ptr<SymbolFile>> symbols = SymbolFile::open({facts.elf_path(), facts.build_id}, options);

  Report report;
  report.tables.push_back(facts_table(facts, symbols ? symbols->get() : nullptr));
  Table points = points_of(file, symbols ? symbols->get() : nullptr);
  if (points.rows.empty()) {
    report.tail.push_back("It has no points (static tracepoints) of its own.");
  } else {
    points.title = plural_text(static_cast<int64_t>(points.rows.size()), "point");
    report.tables.insert(report.tables.begin(), std::move(points));
  }
  if (!symbols) report.warnings.push_back(symbols.error().text);
  return report;
}

}  // namespace penna

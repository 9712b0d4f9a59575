// SPDX-License-Identifier: MIT
// See changed_places.h.
#include "cli/targets/changed_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "base/command_line.h"
#include "base/count_text.h"
#include "base/file.h"
#include "base/hex_text.h"
#include "base/in_proc.h"
#include "plan/import_sites.h"
#include "report/columns.h"
#include "report/units.h"
#include "symbols/elf/process_modules.h"
#include "symbols/symbol_file.h"

namespace penna {
namespace {

const char* kind_text(PlannedChange::Kind kind) {
  switch (kind) {
    case PlannedChange::Kind::kCode: return "code";
    case PlannedChange::Kind::kPointer: return "pointer";
    case PlannedChange::Kind::kMark: return "mark";
    case PlannedChange::Kind::kFlag: return "flag";
  }
  return "";
}

// For one module, read on first use.
struct NamesInFile {
  const ProcessModule* module = nullptr;
  std::unique_ptr<SymbolFile> symbols;
  std::map<uint64_t, std::string> imports;  // by the address of their pointer
};

// The module that contains an address, and what is there.
class PlaceNames {
 public:
  explicit PlaceNames(pid_t pid) {
    auto modules = read_process_modules(static_cast<uint32_t>(pid));
    if (modules) modules_ = std::move(modules->modules);
    const auto maps = read_file(in_proc(pid, "maps"), 64 << 20);
    std::istringstream lines(maps ? *maps : std::string());
    MappedFile one;
    for (std::string line; std::getline(lines, line);)
      if (parse_maps_line(line, &one)) mapped_.push_back(one);
  }

  std::string path(uint64_t address) const {
    for (const MappedFile& one : mapped_)
      if (address - one.start < one.end - one.start) return one.path;
    return {};
  }

  std::string name(const PlannedChange& change) {
    const std::string file = path(change.address);
    const std::string in = fmt::format("[{}]", file.substr(file.rfind('/') + 1));
    if (change.kind == PlannedChange::Kind::kMark) return "ELF header, padding " + in;
    const std::string name = name_in(names_of(file), change);
    return name.empty() ? in : name + " " + in;
  }

 private:
  NamesInFile& names_of(const std::string& path) {
    const auto [at, is_new] = names_.try_emplace(path);
    if (!is_new) return at->second;
    for (const ProcessModule& one : modules_)
      if (one.path == path) at->second.module = &one;
    if (at->second.module == nullptr) return at->second;
    const ElfFile& file = at->second.module->file;
    if (auto symbols = SymbolFile::open({file.path(), file.build_id()}, SymbolOptions{}))
      at->second.symbols = std::move(*symbols);
    for (ImportSite& site : find_import_sites(file)) at->second.imports[site.slot] = std::move(site.name);
    return at->second;
  }

  static std::string name_in(NamesInFile& names, const PlannedChange& change) {
    if (names.module == nullptr) return {};
    const uint64_t address = change.address - names.module->bias;
    if (const auto import = names.imports.find(address); import != names.imports.end())
      return "import " + import->second;
    if (!names.symbols) return {};
    if (change.kind != PlannedChange::Kind::kCode) {
      const auto object = names.symbols->find_object(address);
      return object ? with_offset(object->name, object->offset) : std::string();
    }
    const auto function = names.symbols->find(address);
    return function ? with_offset(function->name, address - function->start) : std::string();
  }
  static std::string with_offset(std::string_view name, uint64_t offset) {
    return offset == 0 ? std::string(name) : fmt::format("{}+{:#x}", name, offset);
  }

  std::vector<ProcessModule> modules_;
  std::vector<MappedFile> mapped_;
  std::map<std::string, NamesInFile> names_;
};

struct ChangedPlace {
  pid_t pid;
  PlannedChange change;
  std::string name, path;
};

std::string bytes_text_of(const std::string& bytes) {
  return hex_text({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

Table places_table(std::vector<ChangedPlace> places, bool several) {
  TableColumn pid{"pid", "PID", CellKind::kNumber};
  pid.machine_only = !several;
  TableColumn path{"module", "MODULE", CellKind::kText};
  path.machine_only = true;
  Columns<ChangedPlace> columns;
  columns.add({
      {pid, [](const ChangedPlace& one) { return static_cast<int64_t>(one.pid); }},
      {{"address", "ADDRESS", CellKind::kAddress}, [](const ChangedPlace& one) { return one.change.address; }},
      {{"kind", "KIND", CellKind::kText},
       [](const ChangedPlace& one) { return std::string(kind_text(one.change.kind)); }},
      {minor({"before", "BEFORE", CellKind::kText}),
       [](const ChangedPlace& one) { return bytes_text_of(one.change.before); }},
      {minor({"after", "AFTER", CellKind::kText}),
       [](const ChangedPlace& one) { return bytes_text_of(one.change.after); }},
      {{"place", "PLACE", CellKind::kText, true}, [](const ChangedPlace& one) { return one.name; }},
      {path, [](const ChangedPlace& one) { return one.path; }},
  });
  Table table;
  table.key = "changes";
  columns.fill(table, std::move(places));
  return table;
}

std::string head_of(const ChangedProcess& process, size_t modules) {
  const Rehearsed& rehearsed = process.rehearsed;
  const std::string who =
      fmt::format("Recording process {} ({})", process.pid, comm_of(static_cast<uint32_t>(process.pid)));
  const std::string what =
      fmt::format("would change {} in {}", plural_text(static_cast<int64_t>(rehearsed.changes.size()), "place"),
                  plural_text(static_cast<int64_t>(modules), "module"));
  if (process.by == ChangedBy::kUprobes)
    return fmt::format("{} by uprobes {}, by the kernel. Nothing was changed.", who, what);
  if (process.by == ChangedBy::kBreakpoints)
    return fmt::format(
        "{} by breakpoints {}, and one byte where each recorded call returns, as calls are made. "
        "Nothing was changed.",
        who, what);
  return fmt::format("{} {}, and leave {} of the agent, {} of address space. Nothing was changed.", who, what,
                     plural_text(static_cast<int64_t>(rehearsed.mappings), "mapping"),
                     bytes_text(rehearsed.mapped_bytes));
}

}  // namespace

Report report_changes(const std::vector<ChangedProcess>& processes) {
  Report report;
  std::vector<ChangedPlace> places;
  for (const ChangedProcess& process : processes) {
    PlaceNames names(process.pid);
    std::set<std::string> modules;
    for (const PlannedChange& change : process.rehearsed.changes) {
      places.push_back({process.pid, change, names.name(change), names.path(change.address)});
      modules.insert(places.back().path);
    }
    report.head.push_back(head_of(process, modules.size()));
  }
  report.add(places_table(std::move(places), processes.size() > 1));
  return report;
}

}  // namespace penna

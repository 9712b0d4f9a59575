// SPDX-License-Identifier: MIT
// See traced.h.
#include "traced.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "base/output_file.h"
#include "cli/output/output.h"
#include "export/heap/rtrace_export.h"
#include "model/names/function_pattern.h"
#include "model/timeline/timeline.h"

namespace penna {
namespace {

// Indexes of the programs that a process ran in the period of a dump; an exec starts another one.
std::vector<uint32_t> programs_of(const Recording& recording, const Dump& dump) {
  const Summary summary = summarize(recording);
  std::vector<uint32_t> found;
  for (const ProcessSummary& process : summary.processes) {
    const bool over = process.ended && process.how == EndKind::kExec && process.last_time < dump.begin;
    if (process.pid == dump.pid && !over && process.first_time < dump.end) found.push_back(process.process);
  }
  return found;
}

std::string unused_rtrace_name(const std::string& prefix) {
  for (uint64_t number = 0;; ++number) {
    std::string name = fmt::format("{}-{}.rtrace.txt", prefix, number);
    if (!is_taken(name)) return name;
  }
}

}  // namespace

// A process that was not seen before: with -s it has been traced from its start (0), else it is idle.
std::optional<uint64_t>& Traced::since(uint32_t pid) {
  const std::optional<uint64_t> begin = from_start_ ? std::optional<uint64_t>(0) : std::nullopt;
  return since_.try_emplace(pid, begin).first->second;
}

// The table in traced.h.
std::optional<Dump> Traced::signal(uint32_t pid, int number, uint64_t ticks) {
  std::optional<uint64_t>& begin = since(pid);
  if (!begin) {
    begin = ticks;
    return std::nullopt;
  }
  const Dump dump{pid, *begin, ticks};
  if (number == SIGUSR1) begin.reset();
  return dump;
}

std::vector<Dump> Traced::rest(const Recording& recording) const {
  std::vector<Dump> dumps;
  std::set<uint32_t> pids;
  for (const RecordedProcess& process : recording.processes()) pids.insert(process.process.pid);
  for (const uint32_t pid : pids) {
    const auto known = since_.find(pid);
    if (known == since_.end() ? from_start_ : known->second.has_value())
      dumps.push_back({pid, known == since_.end() ? 0 : *known->second, UINT64_MAX});
  }
  return dumps;
}

// Reads all calls once. Patterns are matched with the names that were called, not with all symbols of all files.
std::vector<std::string> functions_without_calls(const Recording& recording,
                                                 const std::vector<std::string>& functions) {
  const std::unique_ptr<SymbolSource> symbols = make_symbol_source();
  Names names(recording, *symbols);
  std::set<std::string> called;
  for_each_merged_line(recording, {.filter = {.classes = kCallEvents}}, [&](const TimelineLine& line) {
    if (line.kind == LineKind::kEnter) called.insert(names.function_name(line.process, line.pc, line.time));
    return true;
  });
  std::vector<std::string> missing;
  for (const std::string& function : functions) {
    const FunctionPattern pattern(function);
    if (std::none_of(called.begin(), called.end(), [&](const std::string& name) { return pattern.matches(name); }))
      missing.push_back(function);
  }
  return missing;
}

// The recording is reopened for each dump: it grows between them. An existing file is never overwritten.
Result<DumpReport> write_dump(const std::string& path, const Dump& dump, const DumpStyle& style) {
  const Recording recording = PENNA_TRY(Recording::open(path));
  const std::unique_ptr<SymbolSource> symbols = make_symbol_source();
  Names names(recording, *symbols);
  HeapChanges history(recording, [] {});
  HeapPick pick = style.pick;
  pick.begin = dump.begin;
  pick.end = dump.end;
  DumpReport report;
  for (const uint32_t process : programs_of(recording, dump)) {
    if (style.rtrace || style.calls) {
      const std::string name = unused_rtrace_name(fmt::format("{}/{}", style.directory, dump.pid));
      Output out = PENNA_TRY(Output::create_new(name));
      if (style.calls) {
        export_rtrace_calls(recording, names, process, out.sink(), pick);
      } else {
        export_rtrace(recording, names, history, process, out.sink(), pick);
      }
      PENNA_TRY(out.finish());
      report.files.push_back(name);
      continue;
    }
    const std::string name = unused_libleaks_name(fmt::format("{}/allocs-{}", style.directory, dump.pid));
    const LibleaksReport done = PENNA_TRY(write_libleaks_pair(recording, names, history, process, name, pick));
    report.left_out += done.left_out;
    report.files.push_back(name + ".map");
    report.files.push_back(name + ".trace");
  }
  return report;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// The tables of a few rows: recording, process, thread, module, which need no events, and health.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/analyses.h"
#include "export/text/utf8.h"
#include "report/file_state.h"
#include "report/reports.h"
#include "sql/columns.h"
#include "sql/scans.h"

namespace penna::sql_scans {
namespace {

// A few rows: all are made at once.
class AllAtOnce : public Scan {
 public:
  AllAtOnce(SqlSource& source, void (*make)(SqlSource&, RowBatch&)) : source_(source), make_(make) {}
  bool fill(RowBatch& out) override {
    if (make_ == nullptr) return false;
    std::exchange(make_, nullptr)(source_, out);
    return out.rows() != 0;
  }

 private:
  SqlSource& source_;
  void (*make_)(SqlSource&, RowBatch&);
};

std::string command_text(const std::vector<std::string>& words) {
  return valid_utf8(fmt::format("{}", fmt::join(words, " ")));
}

const char* state_text(FileState state) {
  switch (state) {
    case FileState::kComplete: return "complete";
    case FileState::kDamaged: return "damaged";
    case FileState::kCut: return "cut";
    case FileState::kUnfinished: return "unfinished";
    case FileState::kUnwritten: return "unwritten";
  }
  return "";
}

// The columns from calls to lost, shared by two tables, from `first` on.
void add_counts(RowBatch& out, size_t first, const EventCounts& events, const EventCounts& lost) {
  for (const int of : {PENNA_CALLS, PENNA_ALLOC, PENNA_LOCKS, PENNA_POINTS})
    out.number(first++, static_cast<int64_t>(events[static_cast<size_t>(of)]));
  uint64_t sum = 0;
  for (const uint64_t count : lost) sum += count;
  out.number(first, static_cast<int64_t>(sum));
}

void add_recording(SqlSource& source, RowBatch& out) {
  using namespace recording_column;
  const Recording& recording = source.recording();
  const Session& session = recording.session();
  const Summary& summary = source.summary();
  out.begin_row();
  out.number(id, source.number());
  out.own_text(path, valid_utf8(recording.path()));
  if (!session.command.empty()) out.own_text(program, command_text(session.command));
  out.own_text(host, valid_utf8(session.host));
  out.own_text(kernel, valid_utf8(session.kernel));
  out.own_text(cpu, valid_utf8(session.cpu));
  out.own_text(version, valid_utf8(session.penna_version));
  out.number(utc, source.utc_ns(summary.first_time));
  out.number(duration, summary.duration_ns);
  out.number(bytes, static_cast<int64_t>(recording.file_bytes()));
  out.text(state, state_text(file_state(recording)));
  add_counts(out, calls, summary.events, summary.lost);
}

void add_processes(SqlSource& source, RowBatch& out) {
  using namespace process_column;
  const std::span<const RecordedProcess> processes = source.recording().processes();
  for (const ProcessSummary& of : source.summary().processes) {
    out.begin_row();
    out.number(id, source.process_id(of.process));
    out.number(recording, source.number());
    out.number(pid, of.pid);
    if (of.parent < processes.size()) out.number(parent, source.process_id(of.parent));
    if (of.parent_pid != 0) out.number(parent_pid, of.parent_pid);
    out.own_text(name, valid_utf8(of.name));
    out.own_text(command, command_text(of.command));
    out.own_text(executable, valid_utf8(processes[of.process].process.executable));
    out.number(time, source.time_ns(of.first_time));
    out.number(utc, source.utc_ns(of.first_time));
    out.number(duration, source.duration_ns(of.first_time, of.last_time));
    out.text(how, end_name(of));
    if (of.ended && (of.how == EndKind::kExited || of.how == EndKind::kSignaled)) out.number(code, of.code);
  }
}

void add_threads(SqlSource& source, RowBatch& out) {
  using namespace thread_column;
  for (const ThreadSummary& of : source.summary().threads) {
    out.begin_row();
    out.number(id, source.thread_id(of.thread));
    out.number(recording, source.number());
    out.number(process, source.process_id(of.process));
    out.number(tid, of.tid);
    if (!of.name.empty()) out.own_text(name, valid_utf8(of.name));
    if (of.first_time != 0) {
      out.number(time, source.time_ns(of.first_time));
      out.number(utc, source.utc_ns(of.first_time));
      out.number(duration, source.duration_ns(of.first_time, of.last_time));
    }
    add_counts(out, calls, of.events, of.lost);
  }
}

void add_modules(SqlSource& source, RowBatch& out) {
  using namespace module_column;
  for (uint32_t index = 0; index < source.recording().processes().size(); ++index)
    for (const Module& of : source.recording().processes()[index].modules) {
      out.begin_row();
      out.number(recording, source.number());
      out.number(process, source.process_id(index));
      out.own_text(path, valid_utf8(of.path));
      if (!of.build_id.empty()) out.own_text(build_id, fmt::format("{:02x}", fmt::join(of.build_id, "")));
      out.number(address, static_cast<int64_t>(of.start));
      out.number(bytes, static_cast<int64_t>(of.end - of.start));
      out.number(bias, static_cast<int64_t>(of.bias));
      out.number(time, source.time_ns(of.ticks));
    }
}

const char* severity_text(Severity of) {
  return of == Severity::kError ? "error" : of == Severity::kWarning ? "warning" : "note";
}

void add_health_rows(SqlSource& source, RowBatch& out) {
  using namespace health_column;
  // With separate Names: rows must not depend on earlier queries. Everything is read, as for `penna report health`.
  const HealthReport health = source.with_new_names([&](Names& names) {
    const Analyses all =
        analyse(source.recording(), source.summary(), names.map(), {.classes = kEventClasses}, nullptr);
    return examine(source.recording(), source.summary(), all, names);
  });
  for (const Table& table : health_report(source.recording(), source.summary(), health).tables) {
    if (table.key != "counters") continue;
    for (const TableRow& counter : table.rows) {
      out.begin_row();
      out.number(recording, source.number());
      out.own_text(name, std::get<std::string>(counter.cells[0]));
      out.number(value, std::get<int64_t>(counter.cells[1]));
      out.own_text(meaning, std::get<std::string>(counter.cells[2]));
    }
  }
  for (const HealthSentence& sentence : health.sentences) {
    out.begin_row();
    out.number(recording, source.number());
    out.text(severity, severity_text(sentence.severity));
    out.own_text(meaning, valid_utf8(sentence.text));
  }
}

}  // namespace

Parts scan_facts(SqlSource& source, SqlTable table, const ScanRequest&) {
  const auto rows = [&] {
    switch (table) {
      case SqlTable::kProcess: return add_processes;
      case SqlTable::kThread: return add_threads;
      case SqlTable::kModule: return add_modules;
      case SqlTable::kHealth: return add_health_rows;
      default: return add_recording;
    }
  }();
  Parts parts;
  parts.push_back(std::make_unique<AllAtOnce>(source, rows));
  return parts;
}

}  // namespace penna::sql_scans

// SPDX-License-Identifier: MIT
// See scan.h.
#include "sql/scan.h"

#include <algorithm>

#include "filter/selection.h"
#include "sql/scans.h"

namespace penna {

bool ScanRequest::wants(size_t column) const { return std::find(wanted.begin(), wanted.end(), column) != wanted.end(); }

bool sql_scans::takes_rows_of(const SqlSource& source, const ScanRequest& request, uint32_t thread) {
  uint32_t chosen = 0;
  if (request.thread && (!source.thread_of(*request.thread, &chosen) || chosen != thread)) return false;
  return takes_thread(source.recording(), thread);
}

void sql_scans::begin_row_of(const SqlSource& source, const SharedColumns& columns, uint32_t process, uint32_t thread,
                             uint64_t ticks, int64_t time, RowBatch& out) {
  out.begin_row();
  out.number(columns.recording, source.number());
  out.number(columns.process, source.process_id(process));
  out.number(columns.thread, source.thread_id(thread));
  out.number(columns.time, time);
  if (out.wants(columns.utc)) out.number(columns.utc, source.utc_ns(ticks));
}

const char* sql_scans::end_text(CallEnd how) {
  switch (how) {
    case CallEnd::kExit: return "exit";
    case CallEnd::kJump: return "jump";
    case CallEnd::kUnwound: return "unwound";
    case CallEnd::kOpen: return "open";
  }
  return "";
}

std::vector<ScanPart> scan_table(SqlSource& source, SqlTable table, const ScanRequest& request) {
  switch (table) {
    case SqlTable::kRecording:
    case SqlTable::kProcess:
    case SqlTable::kThread:
    case SqlTable::kModule:
    case SqlTable::kHealth: return sql_scans::scan_facts(source, table, request);
    case SqlTable::kSymbol:
    case SqlTable::kStack:
    case SqlTable::kFrame: return sql_scans::scan_stacks(source, table, request);
    case SqlTable::kCall: return sql_scans::scan_calls(source, request);
    case SqlTable::kEvent:
    case SqlTable::kPoint:
    case SqlTable::kSpan: return sql_scans::scan_lines(source, table, request);
    case SqlTable::kAllocation:
    case SqlTable::kCounter: return sql_scans::scan_blocks(source, table, request);
    case SqlTable::kWait:
    case SqlTable::kHold: return sql_scans::scan_waits(source, table, request);
  }
  return {};
}

uint64_t estimated_rows(const SqlSource& source, SqlTable table) {
  const Summary& summary = source.summary();
  const auto stacks = [&] {
    uint64_t count = 0;
    for (uint32_t process = 0; process < summary.processes.size(); ++process)
      count += source.recording().stack_node_count(process);
    return count;
  };
  constexpr uint64_t kFramesOfStack = 16;  // a guess
  switch (table) {
    case SqlTable::kRecording: return 1;
    case SqlTable::kProcess: return summary.processes.size();
    case SqlTable::kThread: return summary.threads.size();
    case SqlTable::kModule: return summary.processes.size() * 10;
    case SqlTable::kHealth: return 100;
    case SqlTable::kSymbol:
    case SqlTable::kStack: return stacks();
    case SqlTable::kFrame: return stacks() * kFramesOfStack;
    case SqlTable::kEvent: return summary.total_events();
    case SqlTable::kCall: return summary.events[PENNA_CALLS] / 2;
    case SqlTable::kAllocation: return summary.events[PENNA_ALLOC] / 2;
    case SqlTable::kCounter: return summary.events[PENNA_ALLOC] * 2;
    case SqlTable::kWait: return summary.events[PENNA_LOCKS] / 8;
    case SqlTable::kHold: return summary.events[PENNA_LOCKS] / 2;
    case SqlTable::kPoint:
    case SqlTable::kSpan: return summary.events[PENNA_POINTS];
  }
  return 0;
}

}  // namespace penna

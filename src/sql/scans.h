// SPDX-License-Identifier: MIT
// The readers for scan_table(), one function for each kind; for scan.cc.
#pragma once

#include "model/calls/call_matcher.h"
#include "sql/scan.h"

namespace penna::sql_scans {

using Parts = std::vector<ScanPart>;

// From the recording's metadata: recording, process, thread, module, health.
Parts scan_facts(SqlSource& source, SqlTable table, const ScanRequest& request);
// stack, frame, symbol.
Parts scan_stacks(SqlSource& source, SqlTable table, const ScanRequest& request);
// One part per thread.
Parts scan_calls(SqlSource& source, const ScanRequest& request);
// event, point, span: one part per thread.
Parts scan_lines(SqlSource& source, SqlTable table, const ScanRequest& request);
// allocation: one part for the heap and one for each pool; counter: the heap.
Parts scan_blocks(SqlSource& source, SqlTable table, const ScanRequest& request);
// wait, hold: all threads are merged, in one part.
Parts scan_waits(SqlSource& source, SqlTable table, const ScanRequest& request);

// The columns shared by tables of thread events.
struct SharedColumns {
  size_t recording, process, thread, time, utc;
};
// A new row with them; `time`: its ticks in nanoseconds.
void begin_row_of(const SqlSource& source, const SharedColumns& columns, uint32_t process, uint32_t thread,
                  uint64_t ticks, int64_t time, RowBatch& out);

// "exit", "jump", ...: how a call or span ended.
const char* end_text(CallEnd how);
// Whether rows of a thread (index) are requested at all.
bool takes_rows_of(const SqlSource& source, const ScanRequest& request, uint32_t thread);

}  // namespace penna::sql_scans

// SPDX-License-Identifier: MIT
// penna export uftrace: a data directory as `uftrace record` leaves it, so that uftrace's replay, report, graph, tui
// and dump work on the calls of a recording (version 4 of its format; uftrace 0.9 and later).
//
// Files: info, task.txt, sid-*.map, NAME.sym, and TID.dat for each thread with calls: 16 bytes for each entry and exit.
// All functions are in one module that exists only as its list of symbols, so that uftrace shows the same names as
// penna and needs none of the programs. Calls that were not left end as in chrome_export.h. Times are those of
// CLOCK_MONOTONIC. https://github.com/namhyung/uftrace (the format is that of its uftrace.h and utils/data-file.c)
// Invariant: every entry has its exit; times in a file never decrease. Memory: the functions and open calls.
#pragma once

#include <functional>
#include <string>

#include "export/text/text_sink.h"
#include "model/events/events.h"
#include "model/names/names.h"

namespace penna {

// Creates the file `name` in the directory and has `fill` write it; false if that failed or fill returned false.
using WriteFile = std::function<bool(const std::string& name, const std::function<bool(const TextSink&)>& fill)>;

struct UftraceReport {
  WalkReport walk;
  uint64_t too_deep = 0;  // calls left out: uftrace counts to 1023
};

// Calls `step` for each event.
UftraceReport export_uftrace(const Recording& recording, Names& names, const WriteFile& write_file,
                             const std::function<void()>& step);

}  // namespace penna

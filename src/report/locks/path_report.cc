// SPDX-License-Identifier: MIT
// penna report chains --thread: the critical path of a thread, as a table that adds up to its time.
#include <fmt/format.h>

#include "report/frames.h"
#include "report/locks/wait_reports.h"
#include "report/units.h"

namespace penna {
namespace {

const char* what_text(PathPart::What what) {
  switch (what) {
    case PathPart::What::kRan: return "ran";
    case PathPart::What::kRanHolding: return "ran, holding";
    case PathPart::What::kWaited: return "waited for";
    case PathPart::What::kNotKnown: return "not known";
  }
  return "";
}

std::string part_text(const PathPart& part, const WaitTexts& texts) {
  const std::string what = what_text(part.what);
  if (part.object == kNoIndex) return what;
  const penna_sync sync = texts.held().objects()[part.object].sync;
  if (part.what == PathPart::What::kWaited && sync == PENNA_SYNC_JOIN) return "waited for the end of a thread";
  return what + " " + texts.object(part.object);
}

Table path_table(const CriticalPath& path, const WaitTexts& texts) {
  Table table;
  table.key = "path";
  table.details_key = "stack";
  table.columns = {{"time_ns", "TIME", CellKind::kDuration},    {"share", "SHARE", CellKind::kPercent},
                   {"count", "COUNT", CellKind::kCount},        {"tid", "TID", CellKind::kNumber, false, true},
                   {"thread", "THREAD", CellKind::kText, true}, {"what", "WHAT", CellKind::kText, true}};
  for (uint32_t i = 0; i < path.parts.size(); ++i) {
    const PathPart& part = path.parts[i];
    table.add(
        {ticks_to_ns(texts.recording(), part.time),
         100.0 * static_cast<double>(part.time) / static_cast<double>(path.end - path.begin),  // not 0: it has parts
         number(part.count), int64_t{texts.recording().threads()[part.thread].tid}, std::string(), std::string()},
        i);
  }
  table.complete = [&path, texts](TableRow& row) {
    const PathPart& part = path.parts[row.source];
    row.cells[4] = texts.thread(part.thread);
    row.cells[5] = part_text(part, texts);
    const uint32_t process = texts.recording().threads()[part.thread].process;
    if (part.stack != 0) row.details = stack_details(process, part.stack, texts.names());
  };
  return table;
}

}  // namespace

Report path_report(const CriticalPath& path, const WaitTexts& texts) {
  Report report;
  uint64_t itself = 0, others = 0, waited = 0;
  for (const PathPart& part : path.parts) {
    if (part.what == PathPart::What::kWaited) {
      waited += part.time;
    } else if (part.what != PathPart::What::kNotKnown) {
      (part.thread == path.thread ? itself : others) += part.time;
    }
  }
  const auto time = [&](uint64_t ticks) { return duration_text(ticks_to_ns(texts.recording(), ticks)); };
  report.head.push_back(
      fmt::format("Critical path of {0}, from {1} to {2}: {3}. {4} of it ran {0} itself, {5} others for which it "
                  "waited; {6} it waited "
                  "for nobody who is known to have run.",
                  texts.thread(path.thread), timestamp_text(texts.since_start(path.begin)),
                  timestamp_text(texts.since_start(path.end)), time(path.end - path.begin), time(itself), time(others),
                  time(waited)));
  report.tables.push_back(path_table(path, texts));
  report.tail.push_back("Who ran may also have slept, or waited for what is not recorded.");
  return report;
}

}  // namespace penna

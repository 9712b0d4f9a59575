// SPDX-License-Identifier: MIT
// penna report chains --thread: the critical path of a thread, as a table that adds up to its time.
#include <fmt/format.h>

#include "report/columns.h"
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

struct PartItem {
  WaitTexts texts;
  const CriticalPath& path;
  const PathPart& part;
  const RecordedThread& thread() const { return texts.recording().threads()[part.thread]; }
};

Columns<PartItem> part_columns() {
  return {{{"time_ns", "TIME", CellKind::kDuration},
           [](const PartItem& item) { return ticks_to_ns(item.texts.recording(), item.part.time); }},
          {{"share", "SHARE", CellKind::kPercent},
           [](const PartItem& item) {
             const auto all = static_cast<double>(item.path.end - item.path.begin);  // not 0: there are parts
             return Cell{100.0 * static_cast<double>(item.part.time) / all};
           }},
          {{"count", "COUNT", CellKind::kCount}, [](const PartItem& item) { return item.part.count; }},
          {{"tid", "TID", CellKind::kNumber, false, true}, [](const PartItem& item) { return item.thread().tid; }},
          {{"thread", "THREAD", CellKind::kText, true},
           [](const PartItem& item) { return item.texts.thread(item.part.thread); },
           Fill::kWhenShown},
          {{"what", "WHAT", CellKind::kText, true},
           [](const PartItem& item) { return part_text(item.part, item.texts); },
           Fill::kWhenShown}};
}

// The parts come with the most time first, and so do the rows.
Table path_table(const CriticalPath& path, const WaitTexts& texts) {
  std::vector<PartItem> items;
  for (const PathPart& part : path.parts) items.push_back({texts, path, part});
  Table table;
  table.key = "path";
  table.details_key = "stack";
  part_columns().fill(table, std::move(items), [](TableRow& row, PartItem& item) {
    if (item.part.stack != 0) row.details = stack_details(item.thread().process, item.part.stack, item.texts.names());
  });
  return table;
}

}  // namespace

Report path_report(const CriticalPath& path, const WaitTexts& texts) {
  Report report;
  // Ticks: what the thread ran itself, what others ran while it waited for them, and waits during which no thread is
  // known to have run. With the unknown part, they add up to the whole.
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
                  "with no known running thread.",
                  texts.thread(path.thread), timestamp_text(texts.since_start(path.begin)),
                  timestamp_text(texts.since_start(path.end)), time(path.end - path.begin), time(itself), time(others),
                  time(waited)));
  report.tables.push_back(path_table(path, texts));
  report.tail.push_back("Who ran may also have slept, or waited for what is not recorded.");
  return report;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See highlights.h.
#include "view/answers/highlights.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "export/text/event_words.h"
#include "export/text/json_writer.h"
#include "model/blocks/allocations.h"
#include "report/units.h"

namespace penna {
namespace {

using ReportReader = std::function<Result<Report>(const std::string& table, const std::string& sort)>;

// A report's first row, by the keys of its columns.
class FirstRow {
 public:
  explicit FirstRow(const Result<Report>& report) {
    if (report && !report->tables.empty() && !report->tables.front().rows.empty()) table_ = &report->tables.front();
  }
  explicit operator bool() const { return table_ != nullptr; }
  int64_t number(std::string_view key) const {
    const auto* whole = std::get_if<int64_t>(&cell(key));
    return whole == nullptr ? 0 : *whole;
  }
  // Empty: such as the function of blocks whose stack was not recorded.
  std::string text(std::string_view key) const {
    const auto* text = std::get_if<std::string>(&cell(key));
    return text == nullptr || text->empty() ? "[unknown]" : *text;
  }

 private:
  const Cell& cell(std::string_view key) const {
    static const Cell none;
    for (size_t i = 0; i < table_->columns.size(); ++i)
      if (table_->columns[i].key == key) return table_->rows.front().cells[i];
    return none;
  }
  const Table* table_ = nullptr;
};

std::string counted(int64_t number, const char* one) {
  return fmt::format("{} {}{}", count_text(static_cast<uint64_t>(number)), one, number == 1 ? "" : "s");
}

std::optional<Highlight> hottest(const ReportReader& report) {
  const Result<Report> calls = report("calls", "self_ns:desc");
  const FirstRow row(calls);
  if (!row) return std::nullopt;
  return Highlight{fmt::format("Hottest function: {}, {} of its own in {}", row.text("function"),
                               duration_text(row.number("self_ns")), counted(row.number("calls"), "call")),
                   "calls", "self_ns:desc"};
}

std::optional<Highlight> largest_leak(const ReportReader& report) {
  const Result<Report> leaks = report("leaks", "leaked_bytes:desc");
  const FirstRow row(leaks);
  if (!row) return std::nullopt;
  return Highlight{
      fmt::format("Largest leak: {} in {}, allocated by {}, the first after {}", bytes_text(row.number("leaked_bytes")),
                  counted(row.number("blocks"), "block"), row.text("function"), duration_text(row.number("first_ns"))),
      "leaks"};
}

std::optional<Highlight> peak(const Summary& all, const Recording& recording, Names& names) {
  Allocations heap(recording);
  for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, [&](const Event& event) { heap(event); });
  heap.finish();
  const HeapTotals total = heap.total();
  if (total.peak_bytes == 0) return std::nullopt;
  std::map<std::string, uint64_t> owners;
  for (const StackAllocations& stack : heap.stacks()) {
    const NameFrame* origin = names.origin(stack.process, stack.stack);
    owners[origin == nullptr ? "[unknown]" : origin->function] += stack.peak_bytes;
  }
  const auto most = std::max_element(owners.begin(), owners.end(),
                                     [](const auto& one, const auto& other) { return one.second < other.second; });
  const int64_t time = recording.time().duration_ns(all.first_time, total.peak_time);
  const double share = 100 * static_cast<double>(most->second) / static_cast<double>(total.peak_bytes);
  Highlight found{fmt::format("Peak memory: {} live after {}, {} of it allocated by {}",
                              bytes_text(static_cast<int64_t>(total.peak_bytes)), duration_text(time),
                              percent_text(share), most->first),
                  "memory"};
  found.instant = time + 1;
  return found;
}

std::string thread_text(const ThreadSummary& thread) {
  return fmt::format("{} (tid {})", thread.name.empty() ? "a thread" : thread.name, thread.tid);
}

// Of a wait that never ended, the part up to the end of the recording counts, as in the reports.
std::optional<Highlight> longest_wait(const Recording& recording, Names& names) {
  const Summary all = summarize(recording);
  EventWords words(recording, names);
  std::optional<Highlight> found;
  std::string lock;
  uint32_t holder = 0, process = 0;
  TimelineOptions options;
  options.filter.classes = kLockEvents;
  options.fold_leaves = false;
  for (uint32_t thread = 0; thread < recording.threads().size(); ++thread)
    for_each_timeline_line(recording, thread, options, [&](const TimelineLine& line) {
      const bool is_wait = line.kind == LineKind::kLockWait || line.kind == LineKind::kOpenWait;
      if (!is_wait || !is_lock(line.sync)) return true;
      const int64_t duration = words.duration_ns(line);
      if (found && duration <= found->duration) return true;
      found = Highlight{.tab = "waits", .thread = thread, .start = words.time_ns(line.begin), .duration = duration};
      lock = words.name(line);
      holder = line.owner;
      process = line.process;
      return true;
    });
  if (!found) return found;
  std::string held;
  for (const ThreadSummary& one : all.threads)
    if (holder != 0 && one.tid == holder && one.process == process) held = ", held by " + thread_text(one);
  found->text = fmt::format("Longest wait for a lock: {} waited {} for {}{}", thread_text(all.threads[*found->thread]),
                            duration_text(found->duration), lock, held);
  return found;
}

}  // namespace

std::vector<Highlight> highlights(const Summary& all, const ReportReader& report, const PartReader& read) {
  std::vector<Highlight> list;
  const auto add = [&](std::optional<Highlight> one) {
    if (one) list.push_back(std::move(*one));
  };
  if (all.events[PENNA_CALLS] != 0) add(hottest(report));
  if (all.events[PENNA_ALLOC] != 0) {
    (void)read({}, [&](const Recording& recording, Names& names) { return add(peak(all, recording, names)), ok(); });
    add(largest_leak(report));
  }
  if (all.events[PENNA_LOCKS] != 0)
    (void)read({}, [&](const Recording& recording, Names& names) { return add(longest_wait(recording, names)), ok(); });
  return list;
}

std::string highlights_json(const std::vector<Highlight>& list) {
  return json_text([&](JsonWriter& json) {
    json.key("highlights");
    json.begin_array();
    for (const Highlight& one : list) {
      json.begin_object();
      json.field("text", one.text);
      json.field("tab", one.tab);
      if (!one.sort.empty()) json.field("sort", one.sort);
      if (one.instant) json.field("instant_ns", *one.instant);
      if (one.thread) {
        json.field("thread", *one.thread);
        json.field("start_ns", one.start);
        json.field("duration_ns", one.duration);
      }
      json.end_object();
    }
    json.end_array();
  });
}

}  // namespace penna

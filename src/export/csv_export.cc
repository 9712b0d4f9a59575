// SPDX-License-Identifier: MIT
// See csv_export.h.
#include "export/csv_export.h"

#include <fmt/format.h>

#include "export/csv_writer.h"
#include "export/event_words.h"
#include "model/arguments.h"
#include "model/summary.h"

namespace penna {
namespace {

// A value between the ';' of its column.
std::string escaped(const std::string& value) {
  std::string text;
  for (char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == ';' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

class CsvExport {
 public:
  CsvExport(const Recording& recording, Names& names, const TextSink& sink)
      : recording_(recording), words_(recording, names), csv_(sink) {}

  void header() {
    for (const char* name :
         {"time_ns", "pid", "tid", "kind", "name", "address", "size", "duration_ns", "stack", "arguments"})
      csv_.field(name);
    csv_.end_row();
  }

  bool line(const TimelineLine& line) {
    csv_.field(words_.time_ns(line.time));
    csv_.field(recording_.processes()[line.process].process.pid);
    csv_.field(recording_.threads()[line.thread].tid);
    csv_.field(line_kind_name(line));
    csv_.field(words_.name(line));
    const uint64_t address = words_.address(line);
    address == 0 ? csv_.empty() : csv_.address(address);
    size(line);
    has_wait_or_hold(line) ? csv_.field(words_.duration_ns(line)) : csv_.empty();
    csv_.field(words_.folded_stack(line));
    csv_.field(arguments(line));
    csv_.end_row();
    return csv_.ok();
  }
  bool finish() { return csv_.finish(); }

 private:
  void size(const TimelineLine& line) {
    if (line.kind == LineKind::kAllocation) return csv_.field(line.size);
    if (line.kind != LineKind::kLost) return csv_.empty();
    uint64_t sum = 0;
    const auto lost = line.record->as<penna_lost>();
    for (uint32_t count : lost.count) sum += count;
    csv_.field(sum);
  }

  std::string arguments(const TimelineLine& line) {
    std::string text;
    words_.each_argument(line, [&](const std::string& name, const ArgumentValue&, const std::string& value) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ";", name, escaped(value));
    });
    return text;
  }

  const Recording& recording_;
  EventWords words_;
  CsvWriter csv_;
};

}  // namespace

bool export_csv(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                WalkReport* walk) {
  CsvExport out(recording, names, sink);
  out.header();
  TimelineOptions options;
  options.fold_leaves = false;
  options.keep_open = false;  // a call that was not left has no exit event
  *walk = for_each_merged_line(recording, options, [&](const TimelineLine& line) {
    step();
    // A call or span that an outer one ended has no event of its own either.
    const bool is_end = line.kind == LineKind::kLeave || line.kind == LineKind::kSpanEnd;
    return is_end && line.end != CallEnd::kExit ? true : out.line(line);
  });
  return out.finish();
}

}  // namespace penna

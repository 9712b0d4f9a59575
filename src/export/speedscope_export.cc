// SPDX-License-Identifier: MIT
// See speedscope_export.h. The names come last in the file: by then all are known.
#include "export/speedscope_export.h"

#include <fmt/format.h>

#include "export/call_frames.h"
#include "export/event_words.h"
#include "export/json_writer.h"
#include "model/events/summary.h"
#include "model/timeline/timeline.h"

namespace penna {
namespace {

class SpeedscopeExport {
 public:
  SpeedscopeExport(const Recording& recording, Names& names, const TextSink& sink)
      : recording_(recording), summary_(summarize(recording)), frames_(recording, names), json_(sink) {}

  void begin() {
    json_.begin_object();
    json_.field("$schema", "https://www.speedscope.app/file-format-schema.json");
    json_.field("exporter", "penna");
    json_.key("profiles");
    json_.begin_array();
  }

  bool line(const TimelineLine& line) {
    const bool opens = line.kind == LineKind::kEnter || line.kind == LineKind::kSpanBegin;
    if (!opens && line.kind != LineKind::kLeave && line.kind != LineKind::kSpanEnd) return json_.ok();
    const int64_t at = recording_.time().duration_ns(summary_.first_time, line.time);
    // Lines come thread by thread, so that one profile is open at a time.
    if (line.thread != profile_) {
      end_profile();
      begin_profile(line.thread, at);
    }
    last_ = at;
    json_.begin_object();
    json_.field("type", opens ? "O" : "C");
    json_.field("frame", frames_.number(line));
    json_.field("at", at);
    json_.end_object();
    return json_.ok();
  }

  bool finish() {
    end_profile();
    json_.end_array();
    json_.new_line();
    json_.key("shared");
    json_.begin_object();
    json_.key("frames");
    json_.begin_array();
    for (uint32_t i = 0; i < frames_.size(); ++i) frame(frames_.at(i));
    json_.end_array();
    json_.end_object();
    json_.end_object();
    return json_.finish();
  }

 private:
  void begin_profile(uint32_t thread, int64_t at) {
    const ThreadSummary& of = summary_.threads[thread];
    const ProcessSummary& process = summary_.processes[of.process];
    profile_ = thread;
    json_.new_line();
    json_.begin_object();
    json_.field("type", "evented");
    json_.field("name", fmt::format("{} (pid {}), {} (tid {})", process.name.empty() ? "process" : process.name,
                                    process.pid, of.name.empty() ? "thread" : of.name, of.tid));
    json_.field("unit", "nanoseconds");
    json_.field("startValue", at);
    json_.key("events");
    json_.begin_array();
  }

  void end_profile() {
    if (profile_ == kNoIndex) return;
    json_.end_array();
    // Known here only; the schema wants it in the profile, and an object's members may come in any order.
    json_.field("endValue", last_);
    json_.end_object();
  }

  void frame(const CallFrame& frame) {
    json_.new_line();
    json_.begin_object();
    json_.field("name", frame.name);
    if (!frame.file.empty()) json_.field("file", frame.file);
    if (frame.line != 0) json_.field("line", frame.line);
    json_.end_object();
  }

  const Recording& recording_;
  Summary summary_;
  CallFrames frames_;
  JsonWriter json_;
  uint32_t profile_ = kNoIndex;  // the thread whose profile is open
  int64_t last_ = 0;
};

}  // namespace

bool export_speedscope(const Recording& recording, Names& names, const TextSink& sink,
                       const std::function<void()>& step, WalkReport* walk) {
  SpeedscopeExport out(recording, names, sink);
  out.begin();
  const TimelineOptions options{.filter = {.classes = kCallEvents | kPointEvents}, .fold_leaves = false};
  for_each_line_by_thread(recording, options, step, walk, [&](const TimelineLine& line) { return out.line(line); });
  return out.finish();
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See speedscope_export.h. The names come last in the file, when all are known.
#include "export/timeline/speedscope_export.h"

#include <fmt/format.h>

#include "export/text/event_words.h"
#include "export/text/json_writer.h"
#include "export/timeline/call_frames.h"
#include "model/events/summary.h"
#include "model/timeline/timeline.h"

namespace penna {
namespace {

void begin_profiles(JsonWriter& json) {
  json.begin_object();
  json.field("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.field("exporter", "penna");
  json.key("profiles");
  json.begin_array();
}

// Names of frames, all known by now. `write_fields`: writes those of one frame.
void end_file(JsonWriter& json, size_t frames, const std::function<void(size_t)>& write_fields) {
  json.new_line();
  json.key("shared");
  json.begin_object();
  json.key("frames");
  json.begin_array();
  for (size_t i = 0; i < frames; ++i) {
    json.new_line();
    json.begin_object();
    write_fields(i);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.end_object();
}

class SpeedscopeExport {
 public:
  SpeedscopeExport(const Recording& recording, Names& names, const TextSink& sink)
      : recording_(recording), summary_(summarize(recording)), frames_(recording, names), json_(sink) {}

  void begin() { begin_profiles(json_); }

  bool line(const TimelineLine& line) {
    const bool opens = line.kind == LineKind::kEnter || line.kind == LineKind::kSpanBegin;
    if (!opens && line.kind != LineKind::kLeave && line.kind != LineKind::kSpanEnd) return json_.ok();
    const int64_t at = recording_.time().duration_ns(summary_.first_time, line.time);
    // Lines come thread by thread, so only one profile is open at a time.
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
    end_file(json_, frames_.size(), [this](size_t i) { frame(frames_.at(static_cast<uint32_t>(i))); });
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
    // Known only here; the schema wants it in the profile, and an object's members may come in any order.
    json_.field("endValue", last_);
    json_.end_object();
  }

  void frame(const CallFrame& frame) {
    json_.field("name", frame.name);
    if (!frame.file.empty()) json_.field("file", frame.file);
    if (frame.line != 0) json_.field("line", frame.line);
  }

  const Recording& recording_;
  Summary summary_;
  CallFrames frames_;
  JsonWriter json_;
  uint32_t profile_ = kNoIndex;  // the thread whose profile is open
  int64_t last_ = 0;
};

// The schema's unit names; "none" is for counts.
const char* schema_unit(FoldedWeight weight) {
  const std::string_view unit = unit_word(weight);
  return unit == "ns" ? "nanoseconds" : unit == "bytes" ? "bytes" : "none";
}

class AggregatedExport {
 public:
  AggregatedExport(FoldedWeight weight, const TextSink& sink) : json_(sink) {
    begin_profiles(json_);
    json_.new_line();
    json_.begin_object();
    json_.field("type", "sampled");
    json_.field("name", fmt::format("{} by stack", unit_word(weight)));
    json_.field("unit", schema_unit(weight));
    json_.field("startValue", 0);
    json_.key("samples");
    json_.begin_array();
  }

  bool stack(std::span<const std::string_view> frames, uint64_t weight) {
    json_.begin_array();
    for (std::string_view frame : frames) {
      auto [found, added] = numbers_.try_emplace(std::string(frame), static_cast<uint32_t>(names_.size()));
      if (added) names_.emplace_back(frame);
      json_.value(found->second);
    }
    json_.end_array();
    weights_.push_back(weight);
    return json_.ok();
  }

  void finish() {
    json_.end_array();
    json_.new_line();
    json_.key("weights");
    json_.begin_array();
    uint64_t all = 0;
    for (uint64_t weight : weights_) {
      json_.value(weight);
      all += weight;
    }
    json_.end_array();
    json_.field("endValue", all);
    json_.end_object();
    json_.end_array();
    end_file(json_, names_.size(), [this](size_t i) { json_.field("name", names_[i]); });
    json_.finish();
  }

 private:
  JsonWriter json_;
  TextMap<uint32_t> numbers_;
  std::vector<std::string> names_;  // by number
  std::vector<uint64_t> weights_;   // by sample
};

}  // namespace

FoldedReport export_aggregated_speedscope(const Recording& recording, Names& names, const FoldedOptions& options,
                                          const TextSink& sink, const std::function<void(uint64_t)>& step) {
  AggregatedExport out(options.weight, sink);
  FoldedReport report = fold_stacks(
      recording, names, options,
      [&](std::span<const std::string_view> frames, uint64_t weight) { return out.stack(frames, weight); }, step);
  out.finish();
  return report;
}

bool export_speedscope(const Recording& recording, Names& names, const TextSink& sink,
                       const std::function<void()>& step, WalkReport* walk) {
  SpeedscopeExport out(recording, names, sink);
  out.begin();
  const TimelineOptions options{.filter = {.classes = kCallEvents | kPointEvents}, .fold_leaves = false};
  for_each_line_by_thread(recording, options, step, walk, [&](const TimelineLine& line) { return out.line(line); });
  return out.finish();
}

}  // namespace penna

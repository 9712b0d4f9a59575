// SPDX-License-Identifier: MIT
// See firefox_export.h. First the allocations of all processes, in time order; then thread by thread.
#include "export/timeline/firefox_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/hex_text.h"
#include "export/text/event_words.h"
#include "export/timeline/call_frames.h"
#include "export/timeline/firefox_thread.h"
#include "model/events/block_records.h"
#include "model/events/sampling.h"
#include "model/events/summary.h"

namespace penna {
namespace {

constexpr int kFormat = 48;  // preprocessedProfileVersion
constexpr const char* kWaitMarker = "Wait";
constexpr const char* kPointMarker = "Point";
constexpr const char* kNoteMarker = "Penna";

struct SchemaField {
  const char *key, *label;
};
struct Schema {
  const char *type, *shown;  // text shown for its markers
  std::vector<SchemaField> fields;
};
const std::vector<Schema>& schemas() {
  static const std::vector<Schema> all = {
      {kWaitMarker, "{marker.data.what}", {{"what", "For"}, {"holder", "Holder"}, {"end", "End"}}},
      {kPointMarker, "{marker.data.values}", {{"values", "Values"}}},
      {kNoteMarker, "{marker.name}", {}}};
  return all;
}

void write_meta(JsonWriter& json, const Recording& recording, const std::string& product) {
  json.key("meta");
  json.begin_object();
  json.field("preprocessedProfileVersion", kFormat);
  json.field("version", 29);  // of Firefox's own format
  json.field("interval", 1);
  json.field("startTime", static_cast<double>(recording.created_ns()) / 1e6);
  for (const char* none : {"processType", "stackwalk"}) json.field(none, 0);
  json.field("product", product);
  json.field("importedFrom", "Penna");
  json.field("symbolicated", true);
  json.field("platform", "Linux");
  json.field("oscpu", fmt::format("Linux {}", recording.session().machine));
  json.field("abi", "x86_64-gcc3");
  json.key("categories");
  json.begin_array();
  json.begin_object();
  json.field("name", "Other");
  json.field("color", "grey");  // the required one
  json.key("subcategories");
  json.begin_array();
  json.value("Other");
  json.end_array();
  json.end_object();
  json.end_array();
  json.key("markerSchema");
  json.begin_array();
  for (const Schema& schema : schemas()) {
    json.begin_object();
    json.field("name", schema.type);
    for (const char* label : {"tooltipLabel", "tableLabel", "chartLabel"}) json.field(label, schema.shown);
    json.key("display");
    json.begin_array();
    for (const char* place : {"marker-chart", "marker-table", "timeline-overview"}) json.value(place);
    json.end_array();
    json.key("data");
    json.begin_array();
    for (const SchemaField& field : schema.fields) {
      json.begin_object();
      json.field("key", field.key);
      json.field("label", field.label);
      json.field("format", "string");
      json.field("searchable", true);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  for (const char* list : {"pages", "counters"}) {
    json.key(list);
    json.begin_array();
    json.end_array();
  }
}

// The files that contain the functions, by ModuleId.
void write_libs(JsonWriter& json, const CodeMap& map) {
  json.key("libs");
  json.begin_array();
  for (ModuleId id = 0; id < map.module_count(); ++id) {
    json.begin_object();
    for (const char* name : {"name", "debugName"}) json.field(name, map.file_name(id));
    for (const char* path : {"path", "debugPath"}) json.field(path, map.path(id));
    json.field("arch", "x86_64");
    json.field("breakpadId", std::string(33, '0'));
    json.field("codeId", hex_text(map.build_id(id)));
    json.end_object();
  }
  json.end_array();
}

std::vector<std::string> lib_names(const CodeMap& map) {
  std::vector<std::string> names;
  for (ModuleId id = 0; id < map.module_count(); ++id) names.push_back(map.file_name(id));
  return names;
}

// The blocks of each process, as they come and go. A free subtracts what its allocation added.
class BlocksByProcess {
 public:
  struct Row {
    uint64_t time;  // ticks
    int64_t bytes;  // negative: freed
    uint64_t address;
    uint32_t stack, thread;
  };

  explicit BlocksByProcess(const Recording& recording)
      : recording_(recording), scale_(recording), heaps_(recording.processes().size()) {}

  void operator()(const Event& event) {
    Heap& heap = heaps_[event.process];
    const BlockRecord block = read_heap_block(event.record);
    if (block.action == BlockAction::kAllocated && takes_thread(recording_, event.thread)) {
      const auto bytes = static_cast<int64_t>(std::min<uint64_t>(scale_.weigh(block.size).bytes, INT64_MAX));
      heap.live[block.address] = bytes;
      heap.rows.push_back({event.time, bytes, block.address, block.stack, event.thread});
    }
    if (block.action != BlockAction::kFreed || event.undone) return;
    const auto live = heap.live.find(block.address);
    if (live == heap.live.end()) return;
    heap.rows.push_back({event.time, -live->second, block.address, block.stack, event.thread});
    heap.live.erase(live);
  }

  const std::vector<Row>& rows(uint32_t process) const { return heaps_[process].rows; }

 private:
  struct Heap {
    std::vector<Row> rows;
    NumberMap<int64_t> live;  // by address: bytes
  };
  const Recording& recording_;
  SampleScale scale_;
  std::vector<Heap> heaps_;  // by process
};

// The lines of one thread.
class ThreadOfProfile {
 public:
  ThreadOfProfile(Names& names, EventWords& words, CallFrames& calls) : names_(names), words_(words), calls_(calls) {}

  void line(const TimelineLine& line) {
    switch (line.kind) {
      case LineKind::kEnter:
        pass(line.time);
        enter(line);
        break;
      case LineKind::kLeave:
        pass(line.time);
        if (!open_.empty()) open_.pop_back();
        break;
      case LineKind::kLeaf:
        pass(line.begin);
        enter(line);
        pass(line.begin + line.duration);
        open_.pop_back();
        break;
      case LineKind::kLockWait:
      case LineKind::kOpenWait:
      case LineKind::kConditionWait: wait(line); break;
      case LineKind::kPoint:
        thread_.add_marker(kPointMarker, words_.name(line), at(line.time), {}, stack_of(line), values(line));
        break;
      case LineKind::kSpanBegin: spans_.push_back(values(line)); break;
      case LineKind::kSpanEnd: span(line); break;
      case LineKind::kBlocked:
        thread_.add_marker(kNoteMarker, "penna: waited for room", at(line.begin), at(line.begin + line.duration), {},
                           {});
        break;
      case LineKind::kLost: thread_.add_marker(kNoteMarker, "events lost", at(line.time), {}, {}, {}); break;
      default: break;
    }
  }
  // Nothing is open after the last line.
  void finish() {
    if (began_) thread_.add_sample({}, last_, 0);
  }

  void add_block(const BlocksByProcess::Row& row, uint32_t process, uint32_t tid) {
    thread_.add_allocation(stack(process, row.stack), at(row.time), row.bytes, row.address, tid);
  }
  const FirefoxThread& thread() const { return thread_; }

 private:
  int64_t at(uint64_t ticks) const { return words_.time_ns(ticks); }

  // The time until now belonged to the open calls.
  void pass(uint64_t ticks) {
    const int64_t now = at(ticks);
    if (began_ && now > last_)
      thread_.add_sample(open_.empty() ? FirefoxThread::Stack{} : open_.back(), last_, now - last_);
    last_ = began_ ? std::max(last_, now) : now;
    began_ = true;
  }
  void enter(const TimelineLine& line) {
    const CallFrame& frame = calls_.at(calls_.number(line));
    open_.push_back(thread_.within(open_.empty() ? FirefoxThread::Stack{} : open_.back(),
                                   {frame.name, frame.file, frame.line, lib(frame.place.module)}));
  }
  static std::optional<uint32_t> lib(ModuleId module) {
    return module == kNoModule ? std::optional<uint32_t>{} : std::optional(module);
  }

  FirefoxThread::Stack stack_of(const TimelineLine& line) { return stack(line.process, line.stack); }
  FirefoxThread::Stack stack(uint32_t process, uint32_t id) {
    if (id == 0) return {};
    const auto [known, is_new] = stacks_.try_emplace(pair_key(process, id));
    if (!is_new) return known->second;
    FirefoxThread::Stack stack;
    const NamedStack named = names_.stack(process, id);
    for (size_t i = named.frames.size(); i-- > 0;) {
      const NameFrame& frame = *named.frames[i];
      stack = thread_.within(stack, {frame.full_name(), frame.file, frame.line, lib(frame.module)});
    }
    return stacks_[pair_key(process, id)] = stack;
  }

  std::vector<FirefoxField> values(const TimelineLine& line) {
    std::string text;
    words_.each_argument(line, [&](const std::string& name, const ArgumentValue&, const std::string& value) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
    });
    return {{"values", std::move(text)}};
  }
  void wait(const TimelineLine& line) {
    std::vector<FirefoxField> fields = {{"what", words_.name(line)}};
    words_.each_argument(line, [&](const std::string& name, const ArgumentValue&, const std::string& value) {
      if (name == "holder_tid") fields.push_back({"holder", "tid " + value});
      if (name == "end") fields.push_back({"end", value});
    });
    thread_.add_marker(kWaitMarker, "wait " + fields[0].text, at(line.begin), at(line.begin + line.duration),
                       stack_of(line), fields);
  }
  void span(const TimelineLine& line) {
    std::vector<FirefoxField> fields;
    if (!spans_.empty()) fields = std::exchange(spans_.back(), {}), spans_.pop_back();
    thread_.add_marker(kPointMarker, words_.name(line), at(line.begin), at(line.begin + line.duration), {},
                       std::move(fields));
  }

  Names& names_;
  EventWords& words_;
  CallFrames& calls_;
  FirefoxThread thread_;
  std::vector<FirefoxThread::Stack> open_;        // of open calls, outermost first
  std::vector<std::vector<FirefoxField>> spans_;  // open ones
  NumberMap<FirefoxThread::Stack> stacks_;        // process, stack
  int64_t last_ = 0;
  bool began_ = false;
};

std::string name_or(const std::string& name, const char* otherwise) { return name.empty() ? otherwise : name; }

}  // namespace

bool export_firefox(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                    WalkReport* walk) {
  const Summary summary = summarize(recording);
  BlocksByProcess blocks(recording);
  if (summary.events[PENNA_ALLOC] != 0)
    for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, blocks);

  JsonWriter json(sink);
  json.begin_object();
  write_meta(json, recording, summary.processes.empty() ? "Penna" : name_or(summary.processes[0].name, "Penna"));
  write_libs(json, names.map());
  const std::vector<std::string> libs = lib_names(names.map());
  EventWords words(recording, names);
  CallFrames calls(recording, names);
  std::vector<bool> has_main(recording.processes().size());
  json.key("threads");
  json.begin_array();
  for (uint32_t number = 0; number < recording.threads().size() && json.ok(); ++number) {
    const RecordedThread& recorded = recording.threads()[number];
    ThreadOfProfile thread(names, words, calls);
    walk->add(for_each_timeline_line(recording, number, TimelineOptions{}, [&](const TimelineLine& line) {
      step();
      if (line.kind == LineKind::kLeaf) step();  // entry and exit
      thread.line(line);
      return true;
    }));
    thread.finish();
    const bool is_main = !has_main[recorded.process];
    has_main[recorded.process] = true;
    if (is_main)
      for (const BlocksByProcess::Row& row : blocks.rows(recorded.process))
        thread.add_block(row, recorded.process, recording.threads()[row.thread].tid);
    const ProcessSummary& process = summary.processes[recorded.process];
    thread.thread().write(json,
                          {name_or(summary.threads[number].name, "thread"), name_or(process.name, "process"),
                           process.pid, recorded.tid, is_main},
                          libs);
  }
  json.end_array();
  json.end_object();
  return json.finish();
}

FoldedReport export_aggregated_firefox(const Recording& recording, Names& names, const FoldedOptions& options,
                                       const TextSink& sink, const std::function<void(uint64_t)>& step) {
  FirefoxThread thread;
  const std::string_view unit = unit_word(options.weight);
  if (unit != "ns") thread.set_weight_type(unit == "bytes" ? "bytes" : "samples");
  int64_t time = 0;
  FoldedReport report = fold_stacks(
      recording, names, options,
      [&](std::span<const std::string_view> frames, uint64_t weight) {
        FirefoxThread::Stack stack;
        for (const std::string_view frame : frames) stack = thread.within(stack, {frame});
        const auto whole = static_cast<int64_t>(std::min<uint64_t>(weight, INT64_MAX));
        thread.add_sample(stack, time, whole);
        time += unit == "ns" ? whole : 1'000'000;  // side by side
        return true;
      },
      step);
  JsonWriter json(sink);
  json.begin_object();
  write_meta(json, recording, fmt::format("{} by stack", unit));
  json.key("libs");
  json.begin_array();
  json.end_array();
  json.key("threads");
  json.begin_array();
  thread.write(json, {fmt::format("{} by stack", unit), "Penna", 1, 1, true}, {});
  json.end_array();
  json.end_object();
  json.finish();
  return report;
}

}  // namespace penna

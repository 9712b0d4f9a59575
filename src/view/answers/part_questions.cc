// SPDX-License-Identifier: MIT
// See part_questions.h.
#include "view/answers/part_questions.h"

#include <fmt/core.h>

#include <algorithm>

#include "export/text/json_writer.h"
#include "view/answers/block_rows.h"
#include "view/answers/latency.h"
#include "view/answers/live_heap.h"
#include "view/answers/path_answer.h"
#include "view/answers/point_rows.h"
#include "view/answers/source_files.h"

namespace penna {
namespace {

constexpr size_t kMostName = 500;  // bytes of a point's or an argument's name
constexpr size_t kMostFunction = 4000;
constexpr const char* kNoAllocations = "no allocations were recorded: penna record -k alloc CMD";
constexpr size_t kMostWhere = 2000;  // of a condition
constexpr int64_t kMostHits = 10'000;
constexpr size_t kMostFiles = 1000, kMostFileName = 4000;

void write_cost(JsonWriter& json, const LineCost& cost) {
  json.field("calls", cost.calls);
  json.field("total_ns", cost.total_ns);
  json.field("self_ns", cost.self_ns);
  json.field("bytes", cost.bytes);
  json.field("allocations", cost.allocations);
  json.field("live_bytes", cost.live_bytes);
  json.field("waits", cost.waits);
  json.field("wait_ns", cost.wait_ns);
  json.field("hits", cost.hits);
}

}  // namespace

bool PartQuestions::knows(const std::string& question) {
  return question == "point_names" || question == "hits" || question == "latency" || question == "blocks" ||
         question == "sources" || question == "source" || is_of_columns(question);
}

bool PartQuestions::is_of_columns(const std::string& question) {
  return question == "curve" || question == "live_heap" || question == "critical_path";
}

std::string PartQuestions::answer(const std::string& question, Parameters& in, const ViewSelection& of) {
  if (const auto now = now_(); now != all_) curves_.clear(), costs_.reset(), all_ = now;
  if (question == "curve") return curve(in);
  if (question == "live_heap") return live_heap(in, of);
  if (question == "critical_path") return critical_path(in, of);
  if (question == "latency") return latency(in, of);
  if (question == "blocks") return blocks(in, of);
  if (question == "sources") return sources(in, of);
  if (question == "source") return source(in, of);
  return question == "hits" ? hits(in, of) : point_names(in, of);
}

std::string PartQuestions::read(Parameters& in, const PartRequest& request,
                                const std::function<Result<std::string>(const Recording&, Names&)>& use) {
  if (in.error()) return {};
  std::string text;
  const Result<> done = read_(request, [&](const Recording& recording, Names& names) -> Result<> {
    text = PENNA_TRY(use(recording, names));
    return ok();
  });
  if (!done) return in.refuse(done.error().text), std::string();
  return text;
}

std::string PartQuestions::point_names(Parameters& in, const ViewSelection& of) {
  return read(in, {of}, [](const Recording& recording, Names& names) -> Result<std::string> {
    const std::vector<NamedPoint> points = penna::point_names(recording, names);
    return json_text([&](JsonWriter& json) {
      json.key("points");
      json.begin_array();
      for (const NamedPoint& point : points) {
        json.begin_object();
        json.field("name", point.name);
        json.field("hits", point.hits);
        json.field_of_texts("arguments", point.arguments);
        json.end_object();
      }
      json.end_array();
    });
  });
}

std::vector<std::string> PartQuestions::points_to_ask(size_t most) {
  std::vector<std::string> list;
  if (all_->events[PENNA_POINTS] == 0) return list;
  (void)read_({}, [&](const Recording& recording, Names& names) -> Result<> {
    for (const NamedPoint& point : penna::point_names(recording, names))
      if (list.size() < most) list.push_back(point.name);
    return ok();
  });
  return list;
}

std::string PartQuestions::thread_name(uint32_t thread) const {
  if (thread >= all_->threads.size()) return "a new thread";
  const ThreadSummary& one = all_->threads[thread];
  return one.name.empty() ? fmt::format("tid {}", one.tid) : one.name;
}

std::string PartQuestions::hits(Parameters& in, const ViewSelection& of) {
  PointRowsRequest request;
  request.point = in.text("point", kMostName);
  request.sort = in.text("sort", kMostName);
  request.histogram = in.text("histogram", kMostName);
  request.rows = static_cast<size_t>(in.number("top", 100, 1, kMostHits));
  request.begin = all_->first_time;
  const std::string where = in.text("where", kMostWhere);
  return read(in, {of, request.point, where}, [&](const Recording& recording, Names& names) {
    return point_rows(recording, names, request, [&](uint32_t thread) { return thread_name(thread); });
  });
}

std::string PartQuestions::latency(Parameters& in, const ViewSelection& of) {
  LatencyRequest request;
  request.from = in.text("from", kMostName);
  request.to = in.text("to", kMostName);
  request.from_key = in.text("from_key", kMostName);
  request.to_key = in.text("to_key", kMostName);
  request.sort = in.text("sort", kMostName);
  request.rows = static_cast<size_t>(in.number("top", 100, 1, kMostHits));
  request.begin = all_->first_time;
  if (request.from.empty() || request.to.empty()) in.refuse("from and to are the names of two points");
  if (request.from_key.empty() != request.to_key.empty())
    in.refuse("from_key and to_key are both arguments, or both empty: then the thread is the key");
  return read(in, {of}, [&](const Recording& recording, Names& names) {
    return latency_rows(recording, names, request, [&](uint32_t thread) { return thread_name(thread); });
  });
}

// A block may have been allocated, moved and freed at any time: everything is read.
std::string PartQuestions::blocks(Parameters& in, const ViewSelection& of) {
  constexpr int64_t kMostBlocks = 1000;
  BlockRowsRequest request;
  request.of = of;
  if (in.has("instant")) request.instant = in.number("instant", 0, 0, kMostViewNs);
  request.leaked = in.number("leaked", 0, 0, 1) != 0;
  request.function = in.text("function", kMostFunction);
  request.stack = in.text("stack", kMostName);
  request.sort = in.text("sort", kMostName);
  request.rows = static_cast<size_t>(in.number("top", 100, 1, kMostBlocks));
  request.begin = all_->first_time;
  if (all_->events[PENNA_ALLOC] == 0) in.refuse(kNoAllocations);
  return read(in, {}, [&](const Recording& recording, Names& names) {
    return block_rows(recording, names, request, [&](uint32_t thread) { return thread_name(thread); });
  });
}

// Read once for all files of a selection.
const SourceCosts* PartQuestions::costs(Parameters& in, const ViewSelection& of) {
  if (costs_ && costs_of_ == of) return &*costs_;
  costs_.reset();
  read(in, {of}, [&](const Recording& recording, Names& names) -> Result<std::string> {
    costs_.emplace(recording, names);
    return std::string();
  });
  if (in.error()) return nullptr;
  costs_of_ = of;
  return &*costs_;
}

std::vector<PartQuestions::FileCost> PartQuestions::files_by_cost(const SourceCosts& costs) const {
  std::vector<FileCost> files;
  for (const auto& [file, lines] : costs.files()) {
    LineCost most;
    for (const auto& [line, cost] : lines)
      if (cost.is_more_than(most)) most = cost;
    files.push_back({&file, most});
  }
  std::stable_sort(files.begin(), files.end(),
                   [](const FileCost& one, const FileCost& other) { return one.most.is_more_than(other.most); });
  return files;
}

std::vector<std::string> PartQuestions::sources_to_ask() {
  const HttpParameters none;
  Parameters in(none);
  const SourceCosts* const costs = this->costs(in, {});
  std::vector<std::string> names;
  if (costs == nullptr) return names;
  for (const FileCost& one : files_by_cost(*costs)) names.push_back(*one.file);
  return names;
}

// Most expensive first.
std::string PartQuestions::sources(Parameters& in, const ViewSelection& of) {
  const SourceCosts* const costs = this->costs(in, of);
  if (costs == nullptr) return {};
  const std::vector<FileCost> files = files_by_cost(*costs);
  return json_text([&](JsonWriter& json) {
    json.key("files");
    json.begin_array();
    for (size_t i = 0; i < std::min(files.size(), kMostFiles); ++i) {
      json.begin_object();
      json.field("file", *files[i].file);
      write_cost(json, files[i].most);
      json.end_object();
    }
    json.end_array();
    json.field("left_out", uint64_t{files.size() - std::min(files.size(), kMostFiles)});
  });
}

// Only of files that the recording names.
std::string PartQuestions::source(Parameters& in, const ViewSelection& of) {
  const std::string file = in.text("file", kMostFileName);
  const SourceCosts* const costs = this->costs(in, of);
  if (costs == nullptr) return {};
  const auto found = costs->files().find(file);
  if (found == costs->files().end()) return in.refuse("nothing in this selection is of that file"), std::string();
  std::string text;
  read(in, {}, [&](const Recording& recording, Names&) -> Result<std::string> {
    const auto start_ns = static_cast<uint64_t>(std::max<int64_t>(recording.time().realtime_ns(all_->first_time), 0));
    const Result<SourceText> source = SourceFiles(source_dirs_, start_ns).read(file);
    text = json_text([&](JsonWriter& json) {
      json.field("file", file);
      if (source) json.field("path", source->path);
      if (!source) json.field("problem", source.error().text);
      if (source && source->is_newer) json.field("problem", "this file has been changed since the recording was made");
      json.field_of_texts("lines", source ? source->lines : std::vector<std::string>{});
      json.key("costs");
      json.begin_array();
      for (const auto& [line, cost] : found->second) {
        json.begin_object();
        json.field("line", line);
        write_cost(json, cost);
        json.end_object();
      }
      json.end_array();
    });
    return std::string();
  });
  return text;
}

// Live blocks may have been allocated at any earlier time: everything is read from the beginning.
std::string PartQuestions::live_heap(Parameters& in, const ViewSelection& of) {
  constexpr int64_t kMostSteps = 1000, kMostSeries = 50, kMostText = 20;
  LiveHeapRequest request;
  request.view = pixel_view(in, all_->duration_ns);
  if (request.view.pixels > kMostSteps) in.refuse(fmt::format("px is at most {}", kMostSteps));
  request.series = static_cast<size_t>(in.number("series", 10, 1, kMostSeries));
  request.begin = all_->first_time;
  const std::string by = in.text("by", kMostText);
  if (by != "function" && by != "stack") in.refuse("by is function or stack");
  request.by_stack = by == "stack";
  if (all_->events[PENNA_ALLOC] == 0) in.refuse(kNoAllocations);
  ViewSelection part = of;
  part.t0.reset();
  return read(in, {part}, [&](const Recording& recording, Names& names) -> Result<std::string> {
    return penna::live_heap(recording, names, request);
  });
}

// The holder may have taken the lock at any earlier time: everything is read.
std::string PartQuestions::critical_path(Parameters& in, const ViewSelection& of) {
  if (of.threads.size() != 1) in.refuse("a critical path is of one thread: choose it");
  if (all_->events[PENNA_LOCKS] == 0) in.refuse("no locks were recorded: penna record -k locks CMD");
  return read(in, {}, [&](const Recording& recording, Names&) -> Result<std::string> {
    const double ns_per_tick = recording.time().ns_per_tick();
    const auto ticks = [&](int64_t ns) {
      return all_->first_time + static_cast<uint64_t>(static_cast<double>(ns) / ns_per_tick);
    };
    return path_answer(recording, *all_, of.threads.front(), of.t0 ? ticks(*of.t0) : 0,
                       of.t1 ? ticks(*of.t1) : UINT64_MAX);
  });
}

// For the whole run, once: the requested view changes with each pan.
std::string PartQuestions::curve(Parameters& in) {
  constexpr size_t kKept = 8;
  const std::string point = in.text("point", kMostName), argument = in.text("argument", kMostName);
  const PixelView view = pixel_view(in, all_->duration_ns);
  if (in.error()) return {};
  auto known = std::find_if(curves_.begin(), curves_.end(),
                            [&](const NamedCurve& one) { return one.point == point && one.argument == argument; });
  if (known == curves_.end()) {
    read(in, {}, [&](const Recording& recording, Names& names) -> Result<std::string> {
      PointCurve curve(recording, names, point, argument, all_->first_time, all_->duration_ns);
      if (curve.values() == 0) return Error{fmt::format("{} has no numbers of {}", point, argument)};
      curves_.push_front({point, argument, std::move(curve)});
      return std::string();
    });
    if (in.error()) return {};
    if (curves_.size() > kKept) curves_.pop_back();
    known = curves_.begin();
  }
  curves_.splice(curves_.begin(), curves_, known);
  return curves_.front().curve.answer(view);
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See part_questions.h.
#include "view/part_questions.h"

#include <fmt/core.h>

#include <algorithm>

#include "export/json_writer.h"
#include "view/live_heap.h"
#include "view/path_answer.h"
#include "view/point_rows.h"

namespace penna {
namespace {

constexpr size_t kMostName = 500;    // bytes of a point's or an argument's name
constexpr size_t kMostWhere = 2000;  // of a condition
constexpr int64_t kMostHits = 10'000;

}  // namespace

bool PartQuestions::knows(const std::string& question) {
  return question == "point_names" || question == "hits" || is_of_columns(question);
}

bool PartQuestions::is_of_columns(const std::string& question) {
  return question == "curve" || question == "live_heap" || question == "critical_path";
}

std::string PartQuestions::answer(const std::string& question, Parameters& in, const ViewSelection& of) {
  if (const auto now = now_(); now != all_) curves_.clear(), all_ = now;
  if (question == "curve") return curve(in);
  if (question == "live_heap") return live_heap(in, of);
  if (question == "critical_path") return critical_path(in, of);
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
  if (all_->events[PENNA_ALLOC] == 0) in.refuse("no allocations were recorded: penna record -k alloc CMD");
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

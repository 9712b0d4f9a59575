// SPDX-License-Identifier: MIT
// See questions.h.
#include "view/answers/questions.h"

#include <fmt/core.h>

#include <algorithm>

#include "view/answers/highlights.h"
#include "view/answers/report_json.h"
#include "view/tracks/track_answers.h"

namespace penna {
namespace {

constexpr size_t kMostWord = 200;  // for a parameter that is a word

HttpAnswer refusal(int status, const std::string& sentence) {
  return {status, "application/json", json_text([&](JsonWriter& json) { json.field("error", sentence); })};
}

bool is_of_columns(const std::string& name) {
  return name == "flame" || name == "slices" || name == "waits" || name == "points" || name == "counters" ||
         PartQuestions::is_of_columns(name);
}

// Possible kinds of events, and how to record them.
struct EventKind {
  uint32_t event_class;
  const char *kind, *how;
};
constexpr EventKind kEventKinds[] = {{PENNA_CALLS, "calls", "penna record --all-functions CMD"},
                                     {PENNA_ALLOC, "allocations", "penna record -k alloc CMD"},
                                     {PENNA_LOCKS, "locks", "penna record -k locks CMD"},
                                     {PENNA_POINTS, "points", "penna record -k points CMD"}};

// "Calls: 2.9 M calls of 491 functions": the first table of a kind is titled by what there is of it. For calls and
// blocks, it also says what its first row is about.
void write_sentence(JsonWriter& json, const Table& table) {
  const bool is_whole = table.key == "locks" || table.key == "points";
  const char* const most = table.key == "calls"                           ? "longest in "
                           : table.key == "alloc" || table.key == "leaks" ? "most by "
                                                                          : nullptr;
  if (table.rows.empty() || table.title.empty() || (most == nullptr && !is_whole)) return;
  std::string text = table.title, name;
  const TableRow& first = table.rows.front();
  for (size_t i = 0; i < table.columns.size() && i < first.cells.size(); ++i)
    if (const auto* cell = std::get_if<std::string>(&first.cells[i]); cell != nullptr && table.columns[i].cut)
      name = *cell;
  if (name.empty() && !first.details.empty()) name = first.details.front().text;
  if (most != nullptr && !name.empty()) text += std::string("; ") + most + name;
  json.begin_object();
  json.field("text", text);
  json.field("tab", table.key);
  json.end_object();
}

void write_health(JsonWriter& json, const Result<Report>& overview) {
  json.key("health");
  json.begin_object();
  json.field_of_texts("warnings", overview ? overview->warnings : std::vector<std::string>{overview.error().text});
  json.key("counters");
  json.begin_array();
  for (const LossNumber& number : overview ? overview->loss : std::vector<LossNumber>{}) {
    json.begin_object();
    json.field("name", number.name);
    json.field("count", number.count);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

std::string sentences_of(const Result<Report>& overview) {
  return json_text([&](JsonWriter& json) {
    json.key("sentences");
    json.begin_array();
    if (overview)
      for (const Table& table : overview->tables) write_sentence(json, table);
    json.end_array();
    write_health(json, overview);
  });
}

bool is_object(const std::string& text) { return text.starts_with('{') && text.find('}') != text.npos; }

}  // namespace

void write_kinds(JsonWriter& json, const Summary& all) {
  json.key("events");
  json.begin_object();
  for (const EventKind& one : kEventKinds) json.field(one.kind, all.events[one.event_class]);
  json.end_object();
  std::vector<std::string> kinds;
  for (const EventKind& one : kEventKinds)
    if (all.events[one.event_class] != 0) kinds.emplace_back(one.kind);
  json.field_of_texts("kinds", kinds);
  json.key("missing");
  json.begin_array();
  for (const EventKind& one : kEventKinds) {
    if (all.events[one.event_class] != 0) continue;
    json.begin_object();
    json.field("kind", one.kind);
    json.field("how", one.how);
    json.end_object();
  }
  json.end_array();
}

Questions::Questions(ViewSource& data, Tables tables, Readers readers)
    : data_(data),
      tables_(std::move(tables)),
      readers_(std::move(readers)),
      parts_([&data] { return data.summary(); }, readers_.read_part, readers_.source_dirs) {}

void Questions::grow(const std::function<void()>& change) {
  const std::lock_guard hold(mutex_);
  change();
  directory_.reset();
}

std::vector<std::string> Questions::points_to_ask(size_t most) {
  std::lock_guard hold(readers_mutex_);
  return parts_.points_to_ask(most);
}

std::vector<std::string> Questions::sources_to_ask() {
  std::lock_guard hold(readers_mutex_);
  return parts_.sources_to_ask();
}

uint32_t Questions::name_count() {
  std::lock_guard hold(mutex_);
  return data_.ids().size();
}

NameIds Questions::ids() {
  std::lock_guard hold(mutex_);
  return data_.ids();
}

HttpAnswer Questions::answer(const std::string& name, const HttpParameters& parameters) {
  Parameters in(parameters);
  bool is_known = true;
  std::string body = work_out(name, in, &is_known);
  if (!is_known) return refusal(404, "there is no such question");
  if (in.error()) return refusal(400, *in.error());
  return {200, is_of_columns(name) ? "application/octet-stream" : "application/json", std::move(body)};
}

std::string Questions::work_out(const std::string& name, Parameters& in, bool* is_known) {
  if (name == "tables") return tables();
  // Needs no event: before the sentences of a large recording, which take as long as reading it.
  if (name == "summary" && in.number("now", 0, 0, 1) != 0 && !data_.is_small() && !data_.kept_answer("sentences"))
    return summary(false);
  // Of a large recording, these take as long as reading it several times: what a person asks for does not wait.
  if (name == "summary" || name == "highlights") {
    std::lock_guard hold(overview_mutex_);
    return name == "summary" ? summary(true) : highlights();
  }
  const bool reads_part = name == "table" || name == "diff" || name == "flame" || PartQuestions::knows(name);
  if (reads_part) {
    std::lock_guard hold(readers_mutex_);
    return read_part(name, in);
  }
  const bool is_of_tracks = name == "threads" || name == "find" || name == "instance" || is_of_columns(name);
  if (is_of_tracks) return of_tracks(name, in);
  std::lock_guard hold(mutex_);
  if (name == "index") return index();
  if (name == "names") return names(in);
  *is_known = false;
  return {};
}

std::string Questions::read_part(const std::string& name, Parameters& in) {
  if (name == "table") return table(in);
  if (name == "diff") return diff(in);
  return name == "flame" ? flame(in) : parts_.answer(name, in, selection(in));
}

// A request that needs the index waits until it is made, without blocking the others.
std::string Questions::of_tracks(const std::string& name, Parameters& in) {
  for (;;) {
    if (const auto trouble = data_.prepare()) return in.refuse(*trouble), std::string();
    std::lock_guard hold(mutex_);
    if (!data_.is_ready()) continue;
    std::string answer = name == "threads"    ? threads()
                         : name == "find"     ? find(in)
                         : name == "instance" ? instance(in)
                                              : columns(name, in);
    if (!data_.renew()) return answer;
  }
}

// `whole`: include what only reading events can tell.
std::string Questions::summary(bool whole) {
  if (whole && !summary_.empty()) return summary_;
  const std::string sentences = whole ? this->sentences() : sentences_of(Report());
  const std::lock_guard hold(mutex_);
  const Recording& recording = data_.recording();
  const std::shared_ptr<const Summary> held = data_.summary();
  const Summary& all = *held;
  std::string text = json_text([&](JsonWriter& json) {
    json.field("version", 1);
    json.field("pending", !whole);
    if (data_.is_growing()) json.field("growing", true);
    json.field("recording", recording.path());
    if (!readers_.before.empty()) json.field("compared_with", readers_.before);
    json.field_of_texts("command", recording.session().command);
    json.field("pid", all.processes.empty() ? 0u : all.processes.front().pid);
    json.field("start_utc_ns", std::to_string(recording.time().realtime_ns(all.first_time)));
    json.field("duration_ns", all.duration_ns);
    json.field("threads", uint64_t{all.threads.size()});
    json.field("processes", uint64_t{all.processes.size()});
    json.field("lost", all_lost(recording, all));
    write_kinds(json, all);
  });
  // Both are objects: the fields of one follow those of the other.
  text.replace(text.rfind('}'), text.npos, "," + sentences.substr(sentences.find('{') + 1));
  if (whole && !data_.is_growing()) summary_ = text;
  return text;
}

// What only reading all events can tell.
std::string Questions::sentences() {
  if (auto kept_answer = data_.kept_answer("sentences"); kept_answer && is_object(*kept_answer)) return *kept_answer;
  const Result<Report> overview = readers_.make_report({});
  std::string text = sentences_of(overview);
  if (overview && !data_.is_growing()) data_.keep_answer("sentences", text);
  return text;
}

std::string Questions::highlights() {
  if (!highlights_.empty()) return highlights_;
  if (auto kept_answer = data_.kept_answer("highlights"); kept_answer && is_object(*kept_answer))
    return highlights_ = *kept_answer;
  const auto report = [&](const std::string& table, const std::string& sort) {
    return readers_.make_report({table, {}, sort, 1});
  };
  std::string text = highlights_json(penna::highlights(*data_.summary(), report, readers_.read_part));
  if (data_.is_growing()) return text;
  data_.keep_answer("highlights", text);
  highlights_ = text;
  return text;
}

std::string Questions::threads() {
  const std::shared_ptr<const Summary> held = data_.summary();
  const Summary& all = *held;
  const auto ns = [&](uint64_t ticks) {
    return ticks == 0 ? 0 : data_.recording().time().duration_ns(all.first_time, ticks);
  };
  TrackStore& tracks = data_.store();
  return json_text([&](JsonWriter& json) {
    json.key("threads");
    json.begin_array();
    for (const ThreadSummary& one : all.threads) {
      const ProcessSummary& process = all.processes[one.process];
      json.begin_object();
      json.field("id", one.thread);
      json.field("tid", one.tid);
      json.field("pid", process.pid);
      json.field("name", one.name.empty() ? fmt::format("tid {}", one.tid) : one.name);
      json.field("process", process.name);
      json.field("begin_ns", ns(one.first_time));
      json.field("end_ns", ns(one.last_time));
      json.field("calls", one.events[PENNA_CALLS]);
      json.field("allocations", one.events[PENNA_ALLOC]);
      json.field("waits", tracks.waits(one.thread));
      json.field("points", one.events[PENNA_POINTS]);
      json.field("depth", uint64_t{tracks.rows(one.thread)});
      json.end_object();
    }
    json.end_array();
  });
}

std::string Questions::index() {
  const ViewSource::State state = data_.state();
  return json_text([&](JsonWriter& json) {
    json.field("events", state.events);
    json.field("of", data_.summary()->total_events());
    json.field("ready", state.is_ready);
  });
}

std::string Questions::tables() const {
  return json_text([&](JsonWriter& json) {
    json.key("tables");
    json.begin_array();
    for (const TableName& one : tables_to_ask()) {
      json.begin_object();
      json.field("key", one.key);
      json.field("title", one.title);
      json.end_object();
    }
    json.end_array();
  });
}

std::string Questions::table(Parameters& in) {
  ReportRequest request;
  request.table = in.text("name", kMostWord);
  const std::vector<TableName> tables = tables_to_ask();
  if (std::none_of(tables.begin(), tables.end(), [&](const TableName& one) { return one.key == request.table; }))
    in.refuse("name is a table that `tables` lists");
  request.of = selection(in);
  return answer_report(in, std::move(request), readers_.make_report);
}

std::string Questions::diff(Parameters& in) {
  ReportRequest request;
  request.table = in.text("of", kMostWord);
  if (request.table != "calls" && request.table != "alloc" && request.table != "leaks" && request.table != "locks")
    in.refuse("of is calls, alloc, leaks or locks");
  return answer_report(in, std::move(request), readers_.make_diff);
}

// `make`: empty if there is nothing to compare with.
std::string Questions::answer_report(Parameters& in, ReportRequest request,
                                     const std::function<Result<Report>(const ReportRequest&)>& make) {
  constexpr int64_t kMostRows = 100'000;
  request.sort = in.text("sort", kMostWord);
  request.rows = static_cast<size_t>(in.number("top", 100, 0, kMostRows));
  if (!make) in.refuse(kNothingToCompare);
  if (in.error()) return {};
  const Result<Report> report = make(request);
  if (!report) return in.refuse(report.error().text), std::string();
  return report_json(*report);
}

ViewSelection Questions::selection(Parameters& in) {
  ViewSelection of;
  if (in.has("t0")) of.t0 = in.number("t0", 0, 0, kMostViewNs);
  if (in.has("t1")) of.t1 = in.number("t1", 0, 0, kMostViewNs);
  of.threads = chosen_threads(in, data_.summary()->threads.size());
  return of;
}

std::string Questions::names(Parameters& in) {
  const NameIds& ids = data_.ids();
  const auto from = static_cast<uint32_t>(in.number("from", 0, 0, UINT32_MAX));
  const uint32_t next = std::max(from, std::min(ids.size(), from + std::min(kMostNames, UINT32_MAX - from)));
  return json_text([&](JsonWriter& json) {
    json.key("names");
    json.begin_array();
    for (uint32_t id = from; id < next; ++id) json.value(ids.name(id));
    json.end_array();
    json.field("next", next);
  });
}

const Directory& Questions::directory() {
  if (!directory_) directory_ = std::make_unique<Directory>(data_);
  return *directory_;
}

std::string Questions::find(Parameters& in) {
  constexpr size_t kMostText = 500;
  const std::string text = in.text("q", kMostText);
  if (text.empty()) in.refuse("q is the text to look for");
  return in.error() ? std::string() : directory().find(text, data_.ids());
}

uint32_t Questions::thread_of(Parameters& in) {
  const auto threads = static_cast<int64_t>(data_.summary()->threads.size());
  if (!in.has("thread") || threads == 0) return in.refuse("thread is the id of one that `threads` lists"), 0;
  return static_cast<uint32_t>(in.number("thread", 0, 0, threads - 1));
}

std::string Questions::instance(Parameters& in) {
  InstanceChoice choice;
  choice.name = static_cast<uint32_t>(in.number("name", 0, 0, UINT32_MAX));
  if (in.has("before")) choice.before = in.number("before", 0, 0, kMostViewNs);
  if (in.has("after")) choice.after = in.number("after", 0, 0, kMostViewNs);
  const std::vector<uint32_t> among = chosen_threads(in, data_.summary()->threads.size());
  if (in.error()) return {};
  std::optional<Instance> best;
  uint32_t best_thread = 0;
  TrackStore& tracks = data_.store();
  for (uint32_t thread = 0; thread < data_.summary()->threads.size(); ++thread) {
    if (!among.empty() && std::find(among.begin(), among.end(), thread) == among.end()) continue;
    const std::optional<Instance> one = tracks.find(thread, choice);
    if (one && (!best || is_better(*one, *best, choice))) best = one, best_thread = thread;
  }
  return json_text([&](JsonWriter& json) {
    if (!best) return;
    json.field("thread", best_thread);
    json.field("start_ns", best->start);
    json.field("duration_ns", best->duration);
    json.field("depth", best->depth);
  });
}

std::string Questions::columns(const std::string& name, Parameters& in) {
  const PixelView view = pixel_view(in, data_.summary()->duration_ns);
  if (in.error()) return {};
  if (name == "counters") return data_.store().counters().answer(view);
  const uint32_t thread = thread_of(in);
  if (in.error()) return {};
  TrackStore& tracks = data_.store();
  if (name == "slices") return tracks.slices_answer(thread, view);
  return name == "waits" ? tracks.waits_answer(thread, view) : tracks.points_answer(thread, view);
}

}  // namespace penna

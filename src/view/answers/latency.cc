// SPDX-License-Identifier: MIT
// See latency.h.
#include "view/answers/latency.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/whole_number.h"
#include "export/text/json_writer.h"
#include "view/answers/number_bins.h"
#include "view/answers/point_hits.h"
#include "view/answers/report_json.h"

namespace penna {
namespace {

struct Latency {
  uint64_t begin = 0, end = 0;  // ticks
  uint32_t from = 0, to = 0;    // threads
  const std::string& key;
};

// What belongs to no row.
struct Unmatched {
  uint64_t first = 0, second = 0;
};

class Pairs {
 public:
  Pairs(Names& names, const LatencyRequest& request)
      : names_(names), request_(request), is_from_(request.from), is_to_(request.to) {}

  // In order of time. visit(Latency) at each second hit.
  template <typename Visit>
  void add(const Event& event, Visit&& visit) {
    if (event.record.kind != PENNA_KIND_POINT) return;
    const Site* const site = names_.point_site(event.process, event.record.as<penna_point>().site, event.time);
    if (site != nullptr && site->kind == PENNA_SITE_SPAN_END) return;
    // A point may be both: from one hit to the next of the same key.
    if (is_to_(site, event)) end(site, event, visit);
    if (is_from_(site, event)) begin(site, event);
  }
  Unmatched unmatched() const { return {unmatched_.first + open_.size(), unmatched_.second}; }
  // Whether an argument of that name was seen at all.
  bool has_from_key() const { return has_from_key_ || request_.from_key.empty(); }
  bool has_to_key() const { return has_to_key_ || request_.to_key.empty(); }

 private:
  struct Open {
    uint64_t time;
    uint32_t thread;
  };

  void begin(const Site* site, const Event& event) {
    const std::optional<std::string> key = key_of(site, event, request_.from_key);
    has_from_key_ |= key.has_value();
    if (!key || (open_.size() >= LatencyRequest::kMostOpen && open_.count(*key) == 0)) {
      ++unmatched_.first;
      return;
    }
    const auto [found, is_new] = open_.try_emplace(*key);
    unmatched_.first += !is_new;
    found->second = {event.time, event.thread};
  }
  template <typename Visit>
  void end(const Site* site, const Event& event, Visit& visit) {
    const std::optional<std::string> key = key_of(site, event, request_.to_key);
    has_to_key_ |= key.has_value();
    const auto found = key ? open_.find(*key) : open_.end();
    if (found == open_.end()) {
      ++unmatched_.second;
      return;
    }
    visit(Latency{found->second.time, event.time, found->second.thread, event.thread, *key});
    open_.erase(found);
  }
  std::optional<std::string> key_of(const Site* site, const Event& event, const std::string& argument) {
    if (argument.empty()) return std::to_string(event.thread);
    decode_arguments(site, event.record, decoded_);
    for (size_t i = 0; i < decoded_.values.size(); ++i) {
      if (argument_name(site, i) != argument || !decoded_.values[i].present) continue;
      const bool is_described = site != nullptr && i < site->arguments.size();
      return is_described ? argument_text(site->arguments[i], decoded_.values[i]) : argument_text(decoded_.values[i]);
    }
    return std::nullopt;
  }

  Names& names_;
  const LatencyRequest& request_;
  HitsOf is_from_, is_to_;
  DecodedPoint decoded_;
  std::unordered_map<std::string, Open> open_;
  Unmatched unmatched_;
  bool has_from_key_ = false, has_to_key_ = false;
};

constexpr size_t kKeyColumn = 2;

Table empty_table(const LatencyRequest& request) {
  // A view of the request's text, not of a temporary copy.
  const std::string_view key = request.from_key.empty() ? std::string_view("THREAD") : request.from_key;
  Table table;
  table.key = "latency";
  table.columns = {{"time_ns", "FROM", CellKind::kDuration},
                   {"latency_ns", "LATENCY", CellKind::kDuration},
                   {"key", key, CellKind::kText},
                   {"from_thread", "FROM THREAD", CellKind::kText},
                   {"to_thread", "TO THREAD", CellKind::kText}};
  return table;
}

}  // namespace

// Two passes: a histogram needs the range of its numbers first.
Result<std::string> latency_rows(const Recording& recording, Names& names, const LatencyRequest& request,
                                 const std::function<std::string(uint32_t)>& thread_name) {
  const auto ns = [&](uint64_t from, uint64_t to) { return recording.time().duration_ns(from, to); };
  NumberShape shape;
  uint64_t count = 0;
  bool has_whole_keys = !request.from_key.empty();
  Pairs pairs(names, request);
  (void)for_each_event(recording, {.classes = kPointEvents}, [&](const Event& event) {
    pairs.add(event, [&](const Latency& one) {
      ++count, shape.see(Cell(ns(one.begin, one.end)));
      has_whole_keys = has_whole_keys && whole_number<int64_t>(one.key);
    });
  });
  if (!pairs.has_from_key() && pairs.unmatched().first != 0)
    return Error{fmt::format("{} has no argument {}", request.from, request.from_key)};
  if (!pairs.has_to_key() && pairs.unmatched().second != 0)
    return Error{fmt::format("{} has no argument {}", request.to, request.to_key)};
  Table table = empty_table(request);
  if (has_whole_keys) table.columns[kKeyColumn].kind = CellKind::kNumber;  // sorted as such
  const auto key_cell = [&](const Latency& one) -> Cell {
    if (request.from_key.empty()) return thread_name(one.from);
    return has_whole_keys ? Cell(*whole_number<int64_t>(one.key)) : Cell(one.key);
  };
  const std::string order = request.sort.empty() ? "latency_ns:desc" : request.sort;
  if (const Result<> sorted = select_rows(table, order, request.rows); !sorted) return sorted.error();
  const size_t room = 2 * request.rows + 1000;
  Bins bins(shape);
  Pairs again(names, request);
  (void)for_each_event(recording, {.classes = kPointEvents}, [&](const Event& event) {
    again.add(event, [&](const Latency& one) {
      const Cell latency = ns(one.begin, one.end);
      bins.add(latency);
      table.add({ns(request.begin, one.begin), latency, key_cell(one), thread_name(one.from), thread_name(one.to)},
                one.from);
      if (table.rows.size() > room) (void)select_rows(table, order, request.rows);
    });
  });
  (void)select_rows(table, order, request.rows);
  table.title = fmt::format("{} from {} to {}", count, request.from, request.to);
  Report report;
  report.tables.push_back(std::move(table));
  const Unmatched unmatched = pairs.unmatched();
  if (unmatched.first + unmatched.second != 0)
    report.tail.push_back(fmt::format("{} hits of {} had no {} after them, {} of {} had no {} before them",
                                      unmatched.first, request.from, request.to, unmatched.second, request.to,
                                      request.from));
  return json_text([&](JsonWriter& json) {
    write_report(json, report, "thread");
    if (count != 0) bins.write(json, "latency_ns");
  });
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// penna report points: how often each point was hit, and with which values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "model/names/same_stacks.h"
#include "report/columns.h"
#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr size_t kTopStrings = 3;

// Six digits; whole numbers and large ones to the last digit that a double holds (2^53), never 2.5e+06.
std::string amount_text(double amount) {
  const double whole = std::round(amount), exact = 1LL << 53;
  if (std::abs(whole) > exact) return fmt::format("{:.6g}", amount);
  return whole == amount || std::abs(amount) >= 1e5 ? fmt::format("{:.0f}", whole) : fmt::format("{:.6g}", amount);
}

// "3 .. 900, average 12.5, sum 250"; for an enum "RED .. BLUE".
std::string numbers_text(const ArgumentStats& argument, const SiteArgument& described) {
  const std::string low = argument_text(described, argument.min()), high = argument_text(described, argument.max());
  std::string text = low == high ? low : fmt::format("{} .. {}", low, high);
  if (argument.min().is_number() && low != high && described.format.empty())
    text += fmt::format(", average {}, sum {}", amount_text(argument.average()), amount_text(argument.total()));
  if (argument.not_finite != 0)
    text += fmt::format(", {} not finite", count_text(static_cast<int64_t>(argument.not_finite)));
  return text;
}

// The most frequent texts: "\"users\" 12, \"orders\" 3, others 4". If there were too many different ones to count each
// (model/events/frequent_texts.h), counts are minima: "\"users\" 12 or more, others of more than 4,096 different"; and
// if none stood out: "more than 4,096 different, none more than 5 times".
std::string texts_text(const ArgumentStats& argument) {
  const FrequentTexts& texts = argument.texts;
  const std::string too_many = fmt::format("more than {} different", count_text(FrequentTexts::kMost));
  const auto top = texts.top(kTopStrings);
  if (top.empty())
    return fmt::format("{}, none more than {}", too_many, plural_text(static_cast<int64_t>(texts.at_most()), "time"));
  const char* quote = argument.type == PENNA_ARG_ARRAY ? "" : "\"";
  std::string text;
  uint64_t shown = 0;
  for (const FrequentTexts::Count& each : top) {
    text += fmt::format("{}{}{}{} {}{}", shown == 0 ? "" : ", ", quote, each.text, quote,
                        count_text(static_cast<int64_t>(each.count)), each.missed == 0 ? "" : " or more");
    shown += each.count;
  }
  if (texts.forgotten() != 0) return text + ", others of " + too_many;
  if (argument.count > shown)
    text += fmt::format(", others {}", count_text(static_cast<int64_t>(argument.count - shown)));
  return text;
}

std::string argument_line(const ArgumentStats& argument, size_t index, const Site& site) {
  const std::string name = argument.name.empty() ? fmt::format("argument {}", index + 1) : argument.name;
  if (argument.count == 0) return name + ": no value";
  if (argument.type != PENNA_ARG_STRING && argument.type != PENNA_ARG_ARRAY)
    return name + ": " + numbers_text(argument, site.arguments[index]);
  // A truncated text looks like a complete one.
  return name + ": " + texts_text(argument) +
         (argument.cut == 0 ? "" : fmt::format(", cut {}", count_text(static_cast<int64_t>(argument.cut))));
}

// For a span: "took 1.20 us on average, 5.00 us at most, 12.0 us together".
std::string duration_line(const Recording& recording, const Distribution& duration) {
  const auto text = [&](uint64_t ticks) { return duration_text(ticks_to_ns(recording, ticks)); };
  return fmt::format("took {} on average, {} at most, {} together", text(static_cast<uint64_t>(duration.average())),
                     text(duration.max()), text(duration.sum()));
}

// "shop.c:12"; for a probe with copies in several places "ceval.c:12 and 2 others".
std::string source_text(const PointStats& point, Names& names) {
  if (point.site != nullptr && !point.site->file.empty())
    return fmt::format("{}:{}", point.site->file, point.site->line);
  std::vector<std::string> sources;
  for (const PointStats::Copy& copy : point.copies) {
    const Site* site = names.point_site(copy.process, copy.id, point.first_time);
    if (site == nullptr || site->file.empty()) continue;
    std::string source = fmt::format("{}:{}", site->file, site->line);
    if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(std::move(source));
  }
  if (sources.size() < 2) return sources.empty() ? "" : sources[0];
  return fmt::format("{} and {}", sources[0], plural_text(static_cast<int64_t>(sources.size() - 1), "other"));
}

// A stack in which a point was hit; stack 0: hits without one.
struct PointPlace : Placed {
  const PointStats* point;
  StackOfProcess where;
  uint64_t hits;
  Names* names;
};

// Stacks that read the same are one place; most hits first. If a point has any stacks, its hits without one are a
// place, too, so that the numbers add up.
std::vector<PointPlace> places_of(const Recording& recording, const Points& points, Names& names) {
  std::vector<PointPlace> places;
  SameStacks same(recording, names);
  for (const PointStats& point : points.all()) {
    NumberMap<size_t> place_of;  // process, stack
    uint64_t without = point.stacks.empty() ? 0 : point.hits;
    for (const PointStack& stack : point.stacks) {
      const StackOfProcess where = same.first_like(stack.process, stack.stack);
      const auto [slot, is_new] = place_of.try_emplace(pair_key(where.process, where.stack), places.size());
      if (is_new) places.push_back({{}, &point, where, 0, &names});
      places[slot->second].hits += stack.hits;
      without -= stack.hits;
    }
    if (without != 0) places.push_back({{}, &point, {}, without, &names});
  }
  std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.hits > b.hits; });
  return places;
}

// One row per point and stack.
Table stacks_table(const Recording& recording, const Points& points, Names& names) {
  Columns<PointPlace> columns = {
      {{"hits", "HITS", CellKind::kCount}, [](const PointPlace& place) { return place.hits; }},
      {{"point", "POINT", CellKind::kText, true},
       [](const PointPlace& place) { return site_name(place.point->site, place.point->id); }}};
  columns.add(place_columns("STACK"));
  Table table;
  table.key = "stacks";
  table.title = "Where points were passed";
  table.details_key = "stack";
  table.details_in_row = true;
  columns.fill(table, places_of(recording, points, names), [](TableRow& row, PointPlace& place) {
    set_stack(row, place, place.where.process, place.where.stack, *place.names);
  });
  return table;
}

struct PointItem {
  const Recording& recording;
  const PointStats& point;
  const Site* site;
  Names& names;
};

Columns<PointItem> point_columns() {
  return {{{"hits", "HITS", CellKind::kCount}, [](const PointItem& item) { return item.point.hits; }},
          {{"per_second", "PER SECOND", CellKind::kCount},
           [](const PointItem& item) {
             const double rate = item.point.rate(item.recording);
             return rate > 0 && rate < 1e15 ? Cell{static_cast<int64_t>(std::llround(rate))} : Cell{};
           }},
          {{"malformed", "MALFORMED", CellKind::kCount, false, true},
           [](const PointItem& item) { return item.point.malformed; }},
          {{"point", "POINT", CellKind::kText, true},
           [](const PointItem& item) { return site_name(item.site, item.point.id); }},
          {usual({"source", "SOURCE", CellKind::kText, true}),
           [](const PointItem& item) { return source_text(item.point, item.names); }}};
}

// Below a point: how long it took, if it is a span, and a line for each argument.
void describe_point(TableRow& row, PointItem& item) {
  const PointStats& point = item.point;
  if (point.duration.count() != 0) row.details.push_back({duration_line(item.recording, point.duration), ""});
  for (size_t i = 0; i < point.arguments.size(); ++i)
    row.details.push_back({argument_line(point.arguments[i], i, *item.site), ""});
}

Table points_table(const Recording& recording, const Points& points, Names& names) {
  std::vector<PointItem> items;
  for (const PointStats* point : points.by_hits())
    items.push_back(
        {recording, *point, names.point_site(point->copies[0].process, point->id, point->first_time), names});
  Table table;
  table.key = "points";
  table.details_key = "arguments";
  point_columns().fill(table, std::move(items), describe_point);
  return table;
}

}  // namespace

Report points_report(const Recording& recording, const Points& points, Names& names) {
  Report report;
  report.head.push_back(
      points.hits() == 0 ? "No points were recorded: 'penna list PROGRAM' shows which ones it has."
                         : fmt::format("{} passed {}", plural_text(static_cast<int64_t>(points.all().size()), "point"),
                                       plural_text(static_cast<int64_t>(points.hits()), "time")));
  // So that the numbers add up to those reported as recorded.
  if (points.span_ends() != 0)
    report.head.back() += fmt::format(", {} ended", plural_text(static_cast<int64_t>(points.span_ends()), "span"));
  report.add(points_table(recording, points, names));
  report.add(stacks_table(recording, points, names));
  return report;
}

}  // namespace penna

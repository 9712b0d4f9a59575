// SPDX-License-Identifier: MIT
// See point_rows.h.
#include "view/answers/point_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "export/text/json_writer.h"
#include "view/answers/number_bins.h"
#include "view/answers/point_hits.h"
#include "view/answers/report_json.h"

namespace penna {
namespace {

// An enum, a bool: its column is text.
bool is_in_words(const SiteArgument& described, const ArgumentValue& value) {
  return value.present && (!described.format.empty() || value.bad || !value.is_number());
}

// A value as its column shows it. In a column of numbers, text is the digits of one beyond int64_t.
Cell cell_of(const SiteArgument& described, const ArgumentValue& value) {
  if (!value.present) return {};
  if (is_in_words(described, value)) return argument_text(described, value);
  if (value.type == PENNA_ARG_FLOAT) return value.as_float();
  if (value.type != PENNA_ARG_INT && value.as_uint() > INT64_MAX) return std::to_string(value.as_uint());
  return value.as_int();
}

struct Shape : NumberShape {
  std::string name;
  bool is_number = true;  // all its values are
};

// The columns of a point: those of all source locations with its name. Arguments with the same name share a column.
class PointShape {
 public:
  explicit PointShape(const std::string& point) : is_hit_(point) {}

  void add(const Site* site, const Event& event) {
    if (!is_hit_(site, event)) return;
    ++hits_;
    decode_arguments(site, event.record, decoded_);
    const std::vector<size_t>& columns = columns_of(site, decoded_.values.size());
    for (size_t i = 0; i < decoded_.values.size(); ++i) {
      Shape& shape = shapes_[columns[i]];
      shape.is_number &= !is_in_words(described(site, i), decoded_.values[i]);
      shape.see(cell_of(described(site, i), decoded_.values[i]));
    }
  }

  // The cells of a hit; none if it is another point's.
  std::vector<Cell> cells(const Site* site, const Event& event) {
    if (!is_hit_(site, event)) return {};
    decode_arguments(site, event.record, decoded_);
    const std::vector<size_t>& columns = columns_of(site, decoded_.values.size());
    std::vector<Cell> cells(kFirst + shapes_.size());
    for (size_t i = 0; i < decoded_.values.size(); ++i)
      cells[kFirst + columns[i]] = cell_of(described(site, i), decoded_.values[i]);
    return cells;
  }

  static constexpr size_t kFirst = 2;  // columns before the arguments
  const std::vector<Shape>& shapes() const { return shapes_; }
  uint64_t hits() const { return hits_; }

 private:
  static const SiteArgument& described(const Site* site, size_t at) {
    static const SiteArgument unknown;
    return site != nullptr && at < site->arguments.size() ? site->arguments[at] : unknown;
  }
  const std::vector<size_t>& columns_of(const Site* site, size_t values) {
    std::vector<size_t>& columns = columns_[site];
    for (size_t i = columns.size(); i < values; ++i) {
      const std::string name = argument_name(site, i);
      const auto [found, is_new] = by_name_.try_emplace(name, shapes_.size());
      if (is_new) shapes_.emplace_back().name = name;
      columns.push_back(found->second);
    }
    return columns;
  }

  HitsOf is_hit_;
  DecodedPoint decoded_;
  std::vector<Shape> shapes_;
  std::map<std::string, size_t> by_name_;
  std::map<const Site*, std::vector<size_t>> columns_;
  uint64_t hits_ = 0;
};

Table table_of(const PointShape& shape) {
  Table table;
  table.key = "hits";
  table.columns = {{"time_ns", "TIME", CellKind::kDuration}, {"thread", "THREAD", CellKind::kText}};
  for (const Shape& one : shape.shapes())
    table.columns.push_back({one.name, one.name, one.is_number ? CellKind::kNumber : CellKind::kText});
  return table;
}

std::string unknown_column(const std::string& wanted, const PointShape& shape) {
  std::string names;
  for (const Shape& one : shape.shapes())
    if (one.is_number) names += (names.empty() ? "" : ", ") + one.name;
  return fmt::format("{} is no column of numbers of this point; {}", wanted,
                     names.empty() ? "it has none" : "these are: " + names);
}

}  // namespace

std::vector<NamedPoint> point_names(const Recording& recording, Names& names) {
  std::vector<NamedPoint> found;
  std::map<std::string, size_t> by_name;
  NumberMap<size_t> by_site;  // process and id
  for_each_hit(recording, names, [&](const Site* site, const Event& event) {
    const uint32_t id = event.record.as<penna_point>().site;
    const auto [known, is_new] = by_site.try_emplace(pair_key(event.process, id), 0);
    if (is_new) {
      const std::string name = site_name(site, id);
      known.value() = by_name.try_emplace(name, found.size()).first->second;
      if (known->second == found.size()) found.push_back({name});
      std::vector<std::string>& arguments = found[known->second].arguments;
      for (size_t i = 0; site != nullptr && i < site->arguments.size(); ++i)
        if (const std::string argument = argument_name(site, i);
            std::find(arguments.begin(), arguments.end(), argument) == arguments.end())
          arguments.push_back(argument);
    }
    ++found[known->second].hits;
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const NamedPoint& one, const NamedPoint& other) { return one.hits > other.hits; });
  return found;
}

Result<std::string> point_rows(const Recording& recording, Names& names, const PointRowsRequest& request,
                               const std::function<std::string(uint32_t)>& thread_name) {
  const auto shape = std::make_unique<PointShape>(request.point);
  for_each_hit(recording, names, [&](const Site* site, const Event& event) { shape->add(site, event); });
  Table table = table_of(*shape);
  const std::vector<Shape>& shapes = shape->shapes();
  const auto counted =
      std::find_if(shapes.begin(), shapes.end(), [&](const Shape& one) { return one.name == request.histogram; });
  const bool has_histogram = !request.histogram.empty() && shape->hits() != 0;
  if (has_histogram && (counted == shapes.end() || !counted->is_number))
    return Error{unknown_column(request.histogram, *shape)};
  Bins bins(has_histogram ? static_cast<const NumberShape&>(*counted) : NumberShape{});
  const std::string order = request.sort.empty() ? "time_ns:asc" : request.sort;
  Result<> sorted = select_rows(table, order, request.rows);  // a wrong column is reported before the work
  if (!sorted) return sorted.error();
  const size_t room = 2 * request.rows + 1000;
  for_each_hit(recording, names, [&](const Site* site, const Event& event) {
    std::vector<Cell> cells = shape->cells(site, event);
    if (cells.empty()) return;
    if (has_histogram) bins.add(cells[PointShape::kFirst + static_cast<size_t>(counted - shapes.begin())]);
    cells[0] = recording.time().duration_ns(request.begin, event.time);
    cells[1] = thread_name(event.thread);
    table.add(std::move(cells), event.thread);
    if (table.rows.size() > room) (void)select_rows(table, order, request.rows);
  });
  (void)select_rows(table, order, request.rows);
  table.title = fmt::format("{} hits of {}", shape->hits(), request.point);
  Report report;
  report.tables.push_back(std::move(table));
  return json_text([&](JsonWriter& json) {
    write_report(json, report, "thread");
    if (has_histogram) bins.write(json, request.histogram);
  });
}

}  // namespace penna

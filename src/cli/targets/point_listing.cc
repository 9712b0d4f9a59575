// SPDX-License-Identifier: MIT
// See point_listing.h.
#include "cli/targets/point_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "report/columns.h"

namespace penna {
namespace {

// Also JSON's words: they are part of the format.
const char* type_name(uint8_t type) {
  switch (type) {
    case PENNA_ARG_INT: return "int";
    case PENNA_ARG_UINT: return "uint";
    case PENNA_ARG_FLOAT: return "float";
    case PENNA_ARG_POINTER: return "pointer";
    case PENNA_ARG_STRING: return "string";
    case PENNA_ARG_BOOL: return "bool";
    case PENNA_ARG_CHAR: return "char";
    case PENNA_ARG_ARRAY: return "array";
    default: return "unknown";
  }
}

// Whether all copies of a point have their arguments in the same places; the compiler may choose different ones in
// each.
bool same_operands(const ListedPoint& point) {
  const auto differs = [&](const PointPlace& place) {
    return !std::equal(place.operands.begin(), place.operands.end(), point.places[0].operands.begin(),
                       point.places[0].operands.end(),
                       [](const SdtArg& a, const SdtArg& b) { return a.operand == b.operand; });
  };
  return std::none_of(point.places.begin(), point.places.end(), differs);
}

// "rows int, table string" for a record; for a note "s32 %edi, u64 8(%rsp)", without operands if copies differ in them.
std::string arguments_text(const ListedPoint& point) {
  std::string text;
  if (point.kind != 0) {
    for (const SiteArgument& argument : point.arguments)
      text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", argument.name, argument.name.empty() ? "" : " ",
                          type_name(argument.type));
    return text;
  }
  if (!same_operands(point)) return sdt_types_text(point.places[0].operands);
  for (const SdtArg& arg : point.places[0].operands)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", sdt_type_name(arg), arg.operand);
  return text;
}

std::string source_text(const ListedPoint& point) {
  return point.file.empty() ? point.function : fmt::format("{}:{}", point.file, point.line);
}

// "(2 of 3)"; empty if it is all of them.
std::string part_text(size_t part, size_t all) { return part == all ? "" : fmt::format(" ({} of {})", part, all); }

// Copies in the machine code. A point of penna/point.h has a slot and an SDT note, which count as one copy.
size_t copies(const ListedPoint& point) {
  const auto slots =
      std::count_if(point.places.begin(), point.places.end(), [](auto& place) { return place.slot != 0; });
  return slots != 0 ? static_cast<size_t>(slots) : point.places.size();
}

// "penna": its slot is patched, by a recorder. "probe": its SDT nop is patched, by a tracer such as gdb or bpftrace.
std::string armed_text(const ListedPoint& point) {
  size_t recording = 0, probed = 0, unseen = 0;
  for (const PointPlace& place : point.places) {
    recording += place.recording.value_or(false) ? 1 : 0;
    probed += place.probed.value_or(false) ? 1 : 0;
    unseen += !place.recording && !place.probed ? 1 : 0;
  }
  const size_t all = point.places.size();
  if (unseen == all) return "unknown";
  std::string text;
  if (recording != 0) text += "penna" + part_text(recording, copies(point));
  if (probed != 0) text += (text.empty() ? "" : ", ") + ("probe" + part_text(probed, all));
  return text.empty() ? "no" : text;
}

std::string semaphore_text(const ListedPoint& point) {
  if (point.semaphore == 0) return "";
  const std::string address = fmt::format("{:#x}", point.semaphore);
  return point.semaphore_count ? fmt::format("{} = {}", address, *point.semaphore_count) : address;
}

// The first of several copies represents all, because CSV has one column. JSON lists every place.
int64_t address_of(const ListedPoint& point) {
  const PointPlace& first = point.places[0];
  return static_cast<int64_t>(first.slot != 0 ? first.slot : first.probe);
}

// null: unknown.
void write_truth(JsonWriter& json, const char* key, const std::optional<bool>& truth) {
  json.key(key);
  truth ? json.value(*truth) : json.null();
}

void write_address(JsonWriter& json, const char* key, uint64_t address) {
  json.key(key);
  address != 0 ? json.address(address) : json.null();
}

void write_text(JsonWriter& json, const char* key, const std::string& text) {
  json.key(key);
  text.empty() ? json.null() : json.value(text);
}

// Names and types from a record, sizes and signs from a note; either may be missing.
void write_arguments(const ListedPoint& point, JsonWriter& json) {
  const std::vector<SdtArg>& noted = point.places[0].operands;
  const size_t count = point.kind != 0 ? point.arguments.size() : noted.size();
  json.key("arguments");
  json.begin_array();
  for (size_t i = 0; i < count; ++i) {
    json.begin_object();
    if (point.kind != 0) {
      json.field("name", point.arguments[i].name);
      json.field("type", type_name(point.arguments[i].type));
    }
    // A struct is one argument of the note and several of the record.
    if (noted.size() == count && noted[i].size != 0) {
      json.field("size", noted[i].size);
      json.field("signed", noted[i].is_signed);
    }
    json.end_object();
  }
  json.end_array();
}

void write_place(const PointPlace& place, bool in_process, JsonWriter& json) {
  json.begin_object();
  write_address(json, "slot", place.slot);
  write_address(json, "probe", place.probe);
  json.key("operands");
  json.begin_array();
  for (const SdtArg& arg : place.operands) json.value(arg.text);
  json.end_array();
  if (in_process) {
    write_truth(json, "recording", place.recording);
    write_truth(json, "probed", place.probed);
  }
  json.end_object();
}

}  // namespace

// Columns that would be entirely empty (SEMAPHORE, ARMED, MODULE) are omitted.
Table points_table(const std::vector<ListedPoint>& points, bool in_process) {
  using Point = ListedPoint;
  Columns<Point> columns = {
      {{"point", "POINT", CellKind::kText, true}, [](const Point& point) { return point.full_name(); }},
      {{"kind", "KIND", CellKind::kText}, [](const Point& point) { return point_kind_name(point.kind); }},
      {{"arguments", "ARGUMENTS", CellKind::kText, true}, [](const Point& point) { return arguments_text(point); }},
      {minor({"copies", "COPIES", CellKind::kCount}), [](const Point& point) { return copies(point); }}};
  if (in_process)
    columns.add({{{"armed", "ARMED", CellKind::kText}, [](const Point& point) { return armed_text(point); }}});
  if (std::any_of(points.begin(), points.end(), [](const Point& point) { return point.semaphore != 0; }))
    columns.add(
        {{{"semaphore", "SEMAPHORE", CellKind::kText}, [](const Point& point) { return semaphore_text(point); }}});
  columns.add(
      {{{"address", "ADDRESS", CellKind::kAddress, false, true}, [](const Point& point) { return address_of(point); }},
       {minor({"source", "SOURCE", CellKind::kText, true}), [](const Point& point) { return source_text(point); }}});
  if (in_process)
    columns.add(
        {{minor({"module", "MODULE", CellKind::kText, true}), [](const Point& point) { return point.module; }}});
  Table table;
  table.key = "points";
  columns.fill(table, points);
  return table;
}

void write_point(const ListedPoint& point, bool in_process, JsonWriter& json) {
  json.field("point", point.full_name());
  json.field("provider", point.provider);
  json.field("name", point.name);
  json.field("kind", point_kind_name(point.kind));
  write_arguments(point, json);
  write_address(json, "semaphore", point.semaphore);
  if (in_process) {
    json.key("semaphore_count");
    point.semaphore_count ? json.value(static_cast<uint32_t>(*point.semaphore_count)) : json.null();
    json.field("module", point.module);
  }
  write_text(json, "file", point.file);
  json.key("line");
  point.line != 0 ? json.value(point.line) : json.null();
  write_text(json, "function", point.function);
  json.key("sites");
  json.begin_array();
  for (const PointPlace& place : point.places) write_place(place, in_process, json);
  json.end_array();
}

}  // namespace penna

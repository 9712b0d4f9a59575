// SPDX-License-Identifier: MIT
// See values.h.
#include "sql/duckdb/values.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace penna {
namespace {

using Wide = __int128;

class OwnType {
 public:
  OwnType(const DuckApi& api, DuckType type) : api_(api), type_(type) {}
  OwnType(const OwnType&) = delete;
  ~OwnType() { api_.destroy_logical_type(&type_); }
  DuckType get() const { return type_; }

 private:
  const DuckApi& api_;
  DuckType type_;
};

std::string own_text(const DuckApi& api, char* text) {
  std::string result = text == nullptr ? "" : text;
  api.free(text);
  return result;
}

// "2026-11-20", from days since 1970.
std::string date_text(int64_t days) {
  // Beyond the range of the library's calendar.
  if (std::abs(days) > 11'000'000) return days > 0 ? "infinity" : "-infinity";
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

// "08:15:00.25": from a part of a day, in `units` per second.
std::string time_text(int64_t part, int64_t units) {
  const int64_t seconds = part / units;
  std::string text = fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (part % units == 0) return text;
  std::string digits = fmt::format("{}", units + part % units).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

std::string moment_text(int64_t value, int64_t units) {
  const int64_t day = 86'400 * units;
  const int64_t days = value / day - (value % day < 0);
  return date_text(days) + " " + time_text(value - days * day, units);
}

std::string interval_text(const DuckInterval& of) {
  std::string text;
  const auto add = [&](int64_t count, const char* one) {
    if (count != 0)
      text += fmt::format("{}{} {}{}", text.empty() ? "" : " ", count, one, std::abs(count) == 1 ? "" : "s");
  };
  add(of.months / 12, "year");
  add(of.months % 12, "month");
  add(of.days, "day");
  if (of.micros != 0 || text.empty())
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", of.micros < 0 ? "-" : "",
                        time_text(std::abs(of.micros), 1'000'000));
  return text;
}

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

// DuckDB stores a UUID with its top bit flipped, so that it sorts.
std::string uuid_text(Wide value) {
  const auto bits = static_cast<unsigned __int128>(value) ^ (static_cast<unsigned __int128>(1) << 127);
  const std::string hex = fmt::format("{:016x}{:016x}", static_cast<uint64_t>(bits >> 64), static_cast<uint64_t>(bits));
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4), hex.substr(16, 4),
                     hex.substr(20));
}

std::string blob_text(std::string_view bytes) {
  std::string text;
  for (const char c : bytes)
    text += c >= ' ' && c < 0x7f && c != '\\' ? std::string(1, c) : fmt::format("\\x{:02X}", static_cast<uint8_t>(c));
  return text;
}

}  // namespace

DuckShape shape_of(const DuckApi& api, DuckType type) {
  switch (api.get_type_id(type)) {
    case kDuckTinyint:
    case kDuckSmallint:
    case kDuckInteger:
    case kDuckBigint:
    case kDuckUtinyint:
    case kDuckUsmallint:
    case kDuckUinteger: return DuckShape::kInteger;
    case kDuckFloat:
    case kDuckDouble: return DuckShape::kReal;
    case kDuckBoolean: return DuckShape::kBoolean;
    default: return DuckShape::kText;
  }
}

DuckColumn::DuckColumn(const DuckApi& api, DuckVector vector, DuckType type)
    : api_(api),
      vector_(vector),
      type_(type),
      id_(api.get_type_id(type)),
      data_(api.vector_get_data(vector)),
      valid_(api.vector_get_validity(vector)) {}

std::string_view DuckColumn::string(uint64_t row) const {
  const auto& text = at<DuckString>(row);
  return {text.length <= 12 ? text.begin : text.pointer, text.length};
}

int64_t DuckColumn::integer(uint64_t row) const {
  switch (id_) {
    case kDuckTinyint: return at<int8_t>(row);
    case kDuckSmallint: return at<int16_t>(row);
    case kDuckInteger: return at<int32_t>(row);
    case kDuckUtinyint: return at<uint8_t>(row);
    case kDuckUsmallint: return at<uint16_t>(row);
    case kDuckUinteger: return at<uint32_t>(row);
    default: return at<int64_t>(row);
  }
}

double DuckColumn::real(uint64_t row) const {
  return id_ == kDuckFloat ? static_cast<double>(at<float>(row)) : at<double>(row);
}

std::string DuckColumn::decimal(uint64_t row) const {
  Wide value = 0;
  switch (api_.decimal_internal_type(type_)) {
    case kDuckSmallint: value = at<int16_t>(row); break;
    case kDuckInteger: value = at<int32_t>(row); break;
    case kDuckBigint: value = at<int64_t>(row); break;
    default: value = at<Wide>(row); break;
  }
  const size_t scale = api_.decimal_scale(type_);
  std::string digits = fmt::format("{}", value < 0 ? -value : value);
  if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
  if (scale != 0) digits.insert(digits.size() - scale, 1, '.');
  return (value < 0 ? "-" : "") + digits;
}

std::string DuckColumn::name_in_enum(uint64_t row) const {
  const int id = api_.enum_internal_type(type_);
  const uint64_t index = id == kDuckUtinyint    ? at<uint8_t>(row)
                         : id == kDuckUsmallint ? at<uint16_t>(row)
                                                : at<uint32_t>(row);
  return own_text(api_, api_.enum_dictionary_value(type_, index));
}

template <typename Each>
void DuckColumn::each_member(uint64_t row, Each&& each) const {
  if (id_ == kDuckStruct) {
    const uint64_t count = api_.struct_type_child_count(type_);
    for (uint64_t i = 0; i < count; ++i) {
      const std::string name = own_text(api_, api_.struct_type_child_name(type_, i));
      const OwnType type(api_, api_.struct_type_child_type(type_, i));
      each(i, name, DuckColumn(api_, api_.struct_vector_get_child(vector_, i), type.get()), row);
    }
    return;
  }
  // A map is a list of structs of a key and a value.
  const bool is_array = id_ == kDuckArray;
  const uint64_t size = is_array ? api_.array_type_array_size(type_) : 0;
  const DuckListEntry entry = is_array ? DuckListEntry{row * size, size} : at<DuckListEntry>(row);
  DuckVector members = is_array ? api_.array_vector_get_child(vector_) : api_.list_vector_get_child(vector_);
  const OwnType type(api_, is_array ? api_.array_type_child_type(type_) : api_.list_type_child_type(type_));
  const DuckColumn column(api_, members, type.get());
  for (uint64_t i = 0; i < entry.length; ++i) each(i, std::string(), column, entry.offset + i);
}

std::string DuckColumn::nested(uint64_t row) const {
  const bool is_struct = id_ == kDuckStruct;
  std::string text = is_struct || id_ == kDuckMap ? "{" : "[";
  each_member(row, [&](uint64_t index, const std::string& name, const DuckColumn& column, uint64_t at) {
    if (index != 0) text += ", ";
    if (is_struct) text += fmt::format("'{}': ", name);
    if (id_ != kDuckMap) {
      text += column.text(at);
      return;
    }
    column.each_member(at, [&](uint64_t part, const std::string&, const DuckColumn& of, uint64_t there) {
      text += (part == 0 ? "" : "=") + of.text(there);
    });
  });
  return text + (is_struct || id_ == kDuckMap ? "}" : "]");
}

std::string DuckColumn::text(uint64_t row) const {
  if (is_null(row)) return "NULL";
  switch (id_) {
    case kDuckBoolean: return at<bool>(row) ? "true" : "false";
    case kDuckTinyint:
    case kDuckSmallint:
    case kDuckInteger:
    case kDuckBigint:
    case kDuckUtinyint:
    case kDuckUsmallint:
    case kDuckUinteger: return fmt::format("{}", integer(row));
    case kDuckUbigint: return fmt::format("{}", at<uint64_t>(row));
    case kDuckHugeint: return fmt::format("{}", at<Wide>(row));
    case kDuckUhugeint: return fmt::format("{}", at<unsigned __int128>(row));
    case kDuckFloat: return fmt::format("{}", at<float>(row));
    case kDuckDouble: return real_text(at<double>(row));
    case kDuckVarchar: return std::string(string(row));
    case kDuckBlob: return blob_text(string(row));
    case kDuckDecimal: return decimal(row);
    case kDuckEnum: return name_in_enum(row);
    case kDuckDate: return date_text(at<int32_t>(row));
    case kDuckTime: return time_text(at<int64_t>(row), 1'000'000);
    case kDuckTimestamp: return moment_text(at<int64_t>(row), 1'000'000);
    case kDuckTimestampTz: return moment_text(at<int64_t>(row), 1'000'000) + "+00";
    case kDuckTimestampS: return moment_text(at<int64_t>(row), 1);
    case kDuckTimestampMs: return moment_text(at<int64_t>(row), 1'000);
    case kDuckTimestampNs: return moment_text(at<int64_t>(row), 1'000'000'000);
    case kDuckInterval: return interval_text(at<DuckInterval>(row));
    case kDuckUuid: return uuid_text(at<Wide>(row));
    case kDuckList:
    case kDuckArray:
    case kDuckMap:
    case kDuckStruct: return nested(row);
    default: return "[a value of a type that penna cannot print: cast it to VARCHAR]";
  }
}

void DuckColumn::json(uint64_t row, JsonWriter& out) const {
  if (is_null(row)) return out.null();
  switch (id_) {
    case kDuckBoolean: return out.value(at<bool>(row));
    case kDuckFloat:
    case kDuckDouble: return out.value(real(row));
    case kDuckUbigint: return out.value(at<uint64_t>(row));
    case kDuckHugeint:
      if (const Wide value = at<Wide>(row); value == static_cast<int64_t>(value))
        return out.value(static_cast<int64_t>(value));
      return out.value(text(row));
    case kDuckList:
    case kDuckArray:
    case kDuckMap: {
      out.begin_array();
      each_member(row, [&](uint64_t, const std::string&, const DuckColumn& of, uint64_t at) { of.json(at, out); });
      return out.end_array();
    }
    case kDuckStruct: {
      out.begin_object();
      each_member(row, [&](uint64_t, const std::string& name, const DuckColumn& of, uint64_t at) {
        out.key(name);
        of.json(at, out);
      });
      return out.end_object();
    }
    default: break;
  }
  if (shape_of(api_, type_) == DuckShape::kInteger) return out.value(integer(row));
  out.value(text(row));
}

}  // namespace penna

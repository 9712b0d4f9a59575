// SPDX-License-Identifier: MIT
// A value in a DuckDB column, of any type: as text, or as JSON.
//
// Invariant: text reads as DuckDB writes it; a value of an unknown type is reported as such, never as a wrong value.
#pragma once

#include <optional>
#include <string>

#include "export/text/json_writer.h"
#include "sql/duckdb/api.h"

namespace penna {

enum class DuckShape : uint8_t { kInteger, kReal, kBoolean, kText };
// The form of such a column's text; integers only if they fit into 64 signed bits.
DuckShape shape_of(const DuckApi& api, DuckType type);

class DuckColumn {
 public:
  // `type` must outlive it.
  DuckColumn(const DuckApi& api, DuckVector vector, DuckType type);

  bool is_null(uint64_t row) const { return valid_ != nullptr && (valid_[row / 64] >> row % 64 & 1) == 0; }
  std::string text(uint64_t row) const;  // "NULL" if null
  int64_t integer(uint64_t row) const;   // of kInteger
  double real(uint64_t row) const;       // of kReal
  void json(uint64_t row, JsonWriter& out) const;

 private:
  template <typename T>
  const T& at(uint64_t row) const {
    return static_cast<const T*>(data_)[row];
  }
  std::string_view string(uint64_t row) const;
  std::string decimal(uint64_t row) const;
  std::string name_in_enum(uint64_t row) const;
  std::string nested(uint64_t row) const;
  // each(index, name or null, column, row in it) for the members of a list, array, map or struct.
  template <typename Each>
  void each_member(uint64_t row, Each&& each) const;

  const DuckApi& api_;
  DuckVector vector_;
  DuckType type_;
  int id_;
  void* data_;
  const uint64_t* valid_;
};

}  // namespace penna

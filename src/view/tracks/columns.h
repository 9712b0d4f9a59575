// SPDX-License-Identifier: MIT
// ColumnAnswer: columns of numbers for the page, which reads them in place as typed arrays (docs/view-protocol.md).
//
//   0      4      8                8+H
//   | PNV1 |  H   | header: JSON   | 0… | column | 0… | column |
//                                       ^ each begins at a multiple of 8
//
// Usage:  ColumnAnswer answer; answer.add("start", starts); return answer.text([&](JsonWriter& json) { … });
// Invariant: offsets in the header are those of the columns; numbers are little-endian, as this machine has them.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "export/text/json_writer.h"

namespace penna {

class ColumnAnswer {
 public:
  static_assert(std::endian::native == std::endian::little);

  // `name`: a literal.
  void add(std::string_view name, const std::vector<double>& values) { add(name, "f64", values); }
  void add(std::string_view name, const std::vector<uint32_t>& values) { add(name, "u32", values); }
  void add(std::string_view name, const std::vector<int32_t>& values) { add(name, "i32", values); }
  void add(std::string_view name, const std::vector<uint8_t>& values) { add(name, "u8", values); }

  // The complete answer. `more`: writes further fields of the header.
  std::string text(const std::function<void(JsonWriter&)>& more) const;

 private:
  struct Column {
    std::string_view name, type;
    size_t count, offset;  // in data_
  };
  template <typename T>
  void add(std::string_view name, std::string_view type, const std::vector<T>& values) {
    columns_.push_back({name, type, values.size(), data_.size()});
    data_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    data_.resize((data_.size() + 7) & ~size_t{7});
  }
  std::string header(size_t data_at, const std::function<void(JsonWriter&)>& more) const;

  std::vector<Column> columns_;
  std::string data_;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// See columns.h.
#include "view/tracks/columns.h"

#include <cstring>

namespace penna {

std::string ColumnAnswer::header(size_t data_at, const std::function<void(JsonWriter&)>& more) const {
  return json_text([&](JsonWriter& json) {
    json.key("columns");
    json.begin_array();
    for (const Column& column : columns_) {
      json.begin_object();
      json.field("name", column.name);
      json.field("type", column.type);
      json.field("count", uint64_t{column.count});
      json.field("offset", uint64_t{data_at + column.offset});
      json.end_object();
    }
    json.end_array();
    more(json);
  });
}

// The header contains the offsets, which depend on its length: a second pass has room for the digits of both.
std::string ColumnAnswer::text(const std::function<void(JsonWriter&)>& more) const {
  constexpr size_t kMagic = 8;
  const auto data_at = [](size_t header_bytes) { return (kMagic + header_bytes + 7) & ~size_t{7}; };
  size_t at = data_at(header(0, more).size());
  std::string head = header(at, more);
  while (data_at(head.size()) > at) head = header(at = data_at(head.size()), more);
  const auto bytes = static_cast<uint32_t>(head.size());
  std::string whole = "PNV1";
  whole.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  whole += head;
  whole.resize(at);
  return whole + data_;
}

}  // namespace penna

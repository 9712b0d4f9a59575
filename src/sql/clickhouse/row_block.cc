// SPDX-License-Identifier: MIT
// See row_block.h. The format: https://clickhouse.com/docs/interfaces/formats/Native; a block is the numbers of its
// columns and rows, then for each column its name, its type and its values; in a nullable column, the values are
// preceded by a byte for each row, 1 = NULL.
#include "sql/clickhouse/row_block.h"

#include <xxhash.h>

namespace penna {
namespace {

template <typename Number>
void put_number(std::string& to, Number value) {
  for (size_t i = 0; i < sizeof value; ++i) to += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
}
void put_length(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}
void put_text(std::string& to, std::string_view text) {
  put_length(to, text.size());
  to += text;
}
void begin_column(std::string& to, std::string_view name, std::string_view type) {
  put_text(to, name);
  put_text(to, type);
}
template <typename Add>
void put_constant(std::string& to, std::string_view name, std::string_view type, size_t rows, Add&& add) {
  begin_column(to, name, type);
  std::string value;
  add(value);
  for (size_t row = 0; row < rows; ++row) to += value;
}

}  // namespace

void RowBlock::begin_row(uint64_t row, uint8_t shard) {
  ++rows_;
  shards_ += static_cast<char>(shard);
  put_number(row_numbers_, row);
}

RowBlock::Column& RowBlock::value_in(size_t column) {
  Column& to = columns_[column];
  bytes_ += sizeof(uint64_t);  // about
  if (table_->columns[column].is_nullable()) to.nulls += '\0';
  return to;
}

void RowBlock::id(size_t column, const FleetId& value) {
  std::string& to = value_in(column).data;
  put_number(to, value.high);
  put_number(to, value.low);
}
void RowBlock::number(size_t column, int64_t value) { put_number(value_in(column).data, value); }
void RowBlock::boolean(size_t column, bool value) { value_in(column).data += value ? '\1' : '\0'; }
void RowBlock::text(size_t column, std::string_view value) {
  put_text(value_in(column).data, value);
  bytes_ += value.size();
}

void RowBlock::null(size_t column) {
  Column& to = columns_[column];
  const std::string& type = table_->columns[column].type;
  to.nulls += '\1';
  const size_t width = type == "Nullable(UUID)" ? 16 : type == "Nullable(Int64)" ? 8 : 1;  // an empty text has a length
  to.data.append(width, '\0');
}

uint64_t RowBlock::checksum() const {
  XXH3_state_t* const state = XXH3_createState();
  XXH3_64bits_reset(state);
  for (const Column& column : columns_) {
    XXH3_64bits_update(state, column.nulls.data(), column.nulls.size());
    XXH3_64bits_update(state, column.data.data(), column.data.size());
  }
  XXH3_64bits_update(state, row_numbers_.data(), row_numbers_.size());
  XXH3_64bits_update(state, table_->name.data(), table_->name.size());
  const uint64_t sum = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return sum;
}

uint64_t block_number(uint64_t checksum, uint32_t attempt) {
  return XXH3_64bits_withSeed(&checksum, sizeof checksum, attempt);
}

std::string RowBlock::native(const FleetLabels& labels, uint16_t day, uint32_t attempt) const {
  std::string to;
  put_length(to, row_columns(*table_).size());
  put_length(to, rows_);
  begin_column(to, "shard", "UInt8");
  to += shards_;
  put_constant(to, "day", "Date", rows_, [&](std::string& value) { put_number(value, day); });
  for (size_t i = 0; i < columns_.size(); ++i) {
    begin_column(to, table_->columns[i].name, table_->columns[i].type);
    to += columns_[i].nulls;
    to += columns_[i].data;
  }
  if (table_->order != FleetOrder::kDictionary) {
    put_constant(to, "service", "String", rows_, [&](std::string& value) { put_text(value, labels.service); });
    put_constant(to, "host", "String", rows_, [&](std::string& value) { put_text(value, labels.host); });
  }
  begin_column(to, "row", "UInt64");
  to += row_numbers_;
  put_constant(to, "block", "UInt64", rows_,
               [&](std::string& value) { put_number(value, block_number(checksum(), attempt)); });
  put_constant(to, "attempt", "UInt32", rows_, [&](std::string& value) { put_number(value, attempt); });
  return to;
}

}  // namespace penna

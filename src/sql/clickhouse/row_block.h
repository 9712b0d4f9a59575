// SPDX-License-Identifier: MIT
// RowBlock: rows of one table and one day on their way to ClickHouse, in its format Native.
//
// Why by columns, as the batches are: the server takes them apart fastest so, and what is the same in all rows costs
// nothing to write. Why of one day: the server then stores a block whole or not at all, as it is of one partition.
// Invariant: the checksum is of what the rows say, and not of how often they were sent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/clickhouse/fleet_ids.h"
#include "sql/clickhouse/fleet_tables.h"

namespace penna {

struct FleetLabels {
  std::string service, host;
};

// What the server is told to be the block with this checksum when it is sent for the `attempt`th time.
uint64_t block_number(uint64_t checksum, uint32_t attempt);

class RowBlock {
 public:
  static constexpr size_t kMostRows = 65536;
  static constexpr size_t kMostBytes = 8 << 20;

  explicit RowBlock(const FleetTable& table) : table_(&table), columns_(table.columns.size()) {}

  // A row: one of these for each column, in their order, between begin_row() and the next.
  void begin_row(uint64_t row, uint8_t shard);
  void id(size_t column, const FleetId& value);
  void number(size_t column, int64_t value);
  void boolean(size_t column, bool value);
  void text(size_t column, std::string_view value);
  void null(size_t column);

  size_t rows() const { return rows_; }
  bool is_full() const { return rows_ >= kMostRows || bytes_ >= kMostBytes; }

  // XXH3 of its rows.
  uint64_t checksum() const;
  // As Native; `labels` are not written for a dictionary.
  std::string native(const FleetLabels& labels, uint16_t day, uint32_t attempt) const;

 private:
  struct Column {
    std::string nulls, data;
  };
  // Whether the column has a place for NULLs; then this row has a value.
  Column& value_in(size_t column);

  const FleetTable* table_;
  std::vector<Column> columns_;
  std::string shards_, row_numbers_;
  size_t rows_ = 0, bytes_ = 0;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// RowBlock: rows of one table and one day on their way to ClickHouse, in its Native format.
//
// Why by columns, like the batches: the server parses these fastest, and what is the same in all rows costs nothing to
// write. Why of one day: the server then stores a block whole or not at all, because it belongs to one partition.
// Invariant: the checksum covers the contents of the rows, and not how often they were sent.
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

// The number under which the block with this checksum is sent in the `attempt`th attempt.
uint64_t block_number(uint64_t checksum, uint32_t attempt);

class RowBlock {
 public:
  static constexpr size_t kMostRows = 65536;
  static constexpr size_t kMostBytes = 8 << 20;

  explicit RowBlock(const FleetTable& table) : table_(&table), columns_(table.columns.size()) {}

  // For each row: begin_row(), then one of these for each column, in order.
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
  // In Native format; `labels` are not written for a dictionary.
  std::string native(const FleetLabels& labels, uint16_t day, uint32_t attempt) const;

 private:
  struct Column {
    std::string nulls, data;
  };
  // The column to append this row's value to; a nullable one gets the mark for not NULL.
  Column& value_in(size_t column);

  const FleetTable* table_;
  std::vector<Column> columns_;
  std::string shards_, row_numbers_;
  size_t rows_ = 0, bytes_ = 0;
};

}  // namespace penna

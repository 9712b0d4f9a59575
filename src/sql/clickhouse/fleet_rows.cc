// SPDX-License-Identifier: MIT
// See fleet_rows.h.
#include "sql/clickhouse/fleet_rows.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>

#include "sql/scan.h"

namespace penna {
namespace {

constexpr int64_t kDayNs = 86'400'000'000'000;

uint16_t day_of_ns(int64_t utc) { return static_cast<uint16_t>(std::clamp<int64_t>(utc / kDayNs, 0, UINT16_MAX)); }

// Cuts the rows of a table into blocks.
class BlockWriter {
 public:
  BlockWriter(SqlSource& source, const FleetIds& ids, const FleetTable& table, uint16_t day, const WantsRow& wants,
              const TakeBlock& take)
      : ids_(ids), table_(table), day_(day), wants_(wants), take_(take), shard_(shard_of(ids.recording())) {
    const std::span<const SqlColumn> columns = table.source->columns;
    for (uint32_t column = 0; column < columns.size(); ++column) request_.wanted.push_back(column);
    for (uint32_t column = 0; column < columns.size(); ++column)
      if (columns[column].type == SqlType::kUtc && table.order == FleetOrder::kTime) utc_ = column;
    parts_ = scan_table(source, table.source->table, request_);
  }

  Result<> write() {
    RowBatch batch(request_.wanted, table_.source->columns.size());
    for (ScanPart& part : parts_) {
      while (part->fill(batch)) {
        for (size_t row = 0; row < batch.rows(); ++row) PENNA_TRY(add(batch, row));
        batch.clear();
      }
      part.reset();
    }
    for (auto& [day, block] : open_) PENNA_TRY(take_(block, day));
    return ok();
  }

 private:
  Result<> add(const RowBatch& batch, size_t row) {
    uint64_t number = count_++;
    uint8_t shard = shard_;
    if (table_.order == FleetOrder::kDictionary) {
      const FleetId key = key_of(batch, row);
      if (!is_new(key, batch.numbers(0)[row])) return ok();
      number = key.low;
      shard = shard_of(key);
    }
    const uint16_t day = utc_ == UINT32_MAX ? day_ : day_of_ns(batch.numbers(utc_)[row]);
    RowBlock& block = open_.try_emplace(day, table_).first->second;
    block.begin_row(number, shard);
    for (size_t column = 0; column < table_.columns.size(); ++column) PENNA_TRY(add_value(batch, row, column, block));
    if (!block.is_full()) return ok();
    PENNA_TRY(take_(block, day));
    open_.erase(day);
    return ok();
  }

  Result<> add_value(const RowBatch& batch, size_t row, size_t at, RowBlock& block) const {
    const FleetColumn& column = table_.columns[at];
    const FleetId* stack = nullptr;
    const bool is_stack = is_of_stacks(column);
    bool is_null = batch.valid(column.index)[row] == 0;
    const int64_t number = is_null || is_text(column) ? 0 : batch.numbers(column.index)[row];
    if (!is_null && is_stack) stack = ids_.stack(number);
    is_null |= is_stack && stack == nullptr;
    if (is_null) {
      if (!column.is_nullable())
        return Error{fmt::format("a row of {} has no {}, and is not pushed", table_.name, column.name)};
      block.null(at);
    } else if (is_stack) {
      block.id(at, *stack);
    } else if (column.is_id) {
      block.id(at, is_recording(column) ? ids_.recording() : ids_.of(number));
    } else if (is_text(column)) {
      block.text(at, batch.texts(column.index)[row]);
    } else if (column.source->type == SqlType::kBoolean) {
      block.boolean(at, number != 0);
    } else {
      block.number(at, number);
    }
    return ok();
  }

  static bool is_text(const FleetColumn& column) {
    return column.source->type == SqlType::kText || column.source->type == SqlType::kJson;
  }
  bool is_of_stacks(const FleetColumn& column) const {
    const std::string_view key = column.source->key;
    return key == "stack.id" || (key == "key" && table_.source->table == SqlTable::kStack);
  }
  bool is_recording(const FleetColumn& column) const {
    const std::string_view key = column.source->key;
    return key == "recording.id" || (key == "key" && table_.source->table == SqlTable::kRecording);
  }

  // The key of a dictionary's row.
  FleetId key_of(const RowBatch& batch, size_t row) const {
    if (table_.source->table != SqlTable::kSymbol) {
      const FleetId* const stack = ids_.stack(batch.numbers(0)[row]);
      return stack == nullptr ? FleetId{} : *stack;
    }
    std::string text;
    for (const FleetColumn& column : table_.columns) {
      const bool is_there = batch.valid(column.index)[row] != 0;
      text += is_there ? '\1' : '\0';
      if (!is_there) continue;
      if (is_text(column))
        text.append(batch.texts(column.index)[row]).append(1, '\0');
      else
        text += fmt::format("{} ", batch.numbers(column.index)[row]);
    }
    return {0, XXH3_64bits(text.data(), text.size())};
  }
  // Stacks of several processes can be equal: only the rows of the first are used.
  bool is_new(const FleetId& key, int64_t number) {
    const auto [found, is_first] = owners_.try_emplace(key, number);
    if (is_first) wanted_[key] = key != FleetId{} && wants_(key);
    return found->second == number && wanted_[key];
  }

  const FleetIds& ids_;
  const FleetTable& table_;
  uint16_t day_;
  const WantsRow& wants_;
  const TakeBlock& take_;
  uint8_t shard_;
  ScanRequest request_;
  std::vector<ScanPart> parts_;
  uint32_t utc_ = UINT32_MAX;  // the column that determines the day
  uint64_t count_ = 0;
  std::map<uint16_t, RowBlock> open_;
  std::map<FleetId, int64_t> owners_;
  std::map<FleetId, bool> wanted_;
};

}  // namespace

uint8_t shard_of(const FleetId& id) { return static_cast<uint8_t>(id.low); }

uint16_t day_of(const SqlSource& source) { return day_of_ns(source.utc_ns(source.summary().first_time)); }

Result<> each_block(SqlSource& source, const FleetIds& ids, const FleetTable& table, uint16_t today,
                    const WantsRow& wants, const TakeBlock& take) {
  const uint16_t day = table.order == FleetOrder::kDictionary ? today : day_of(source);
  return BlockWriter(source, ids, table, day, wants, take).write();
}

}  // namespace penna

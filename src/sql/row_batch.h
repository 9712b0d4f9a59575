// SPDX-License-Identifier: MIT
// RowBatch: some rows of a table, column by column, on their way from a reader to an engine.
//
// Why by columns: engines take them so, and unused columns cost nothing.
// Usage:  out.begin_row(); out.number(call_column::self, 12); out.text(call_column::function, name); ...
// Invariant: a value that was not set is NULL. Texts passed to text() stay valid as long as the source, so that engines
// may point to them; those passed to own_text(), until clear().
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penna {

class RowBatch {
 public:
  // `wanted`: the column numbers, each once; `columns`: the table's number of columns.
  RowBatch(std::span<const uint32_t> wanted, size_t columns) : slots_(columns, kNone), columns_(wanted.size()) {
    for (size_t slot = 0; slot < wanted.size(); ++slot) slots_[wanted[slot]] = static_cast<uint32_t>(slot);
  }

  bool wants(size_t column) const { return slots_[column] != kNone; }
  size_t rows() const { return rows_; }
  void clear() {
    rows_ = 0;
    own_.clear();
    for (Column& column : columns_) column.has_own = false;
  }

  void begin_row() {
    if (rows_ == room_) grow();
    for (Column& column : columns_) column.valid[rows_] = 0;
    ++rows_;
  }
  // Drops the row that was begun last.
  void drop_row() { --rows_; }
  void number(size_t column, int64_t value) {
    if (slots_[column] == kNone) return;
    Column& to = columns_[slots_[column]];
    to.numbers[rows_ - 1] = value;
    to.valid[rows_ - 1] = 1;
  }
  // `value` is not copied.
  void text(size_t column, std::string_view value) {
    if (slots_[column] == kNone) return;
    Column& to = columns_[slots_[column]];
    if (to.texts.size() < room_) to.texts.resize(room_);
    to.texts[rows_ - 1] = value;
    to.valid[rows_ - 1] = 1;
  }
  void own_text(size_t column, std::string value) {
    if (slots_[column] == kNone) return;
    text(column, own_.emplace_back(std::move(value)));
    columns_[slots_[column]].has_own = true;
  }

  // Per wanted column, by its place in `wanted`. numbers(): also booleans and moments.
  const int64_t* numbers(size_t slot) const { return columns_[slot].numbers.data(); }
  const std::string_view* texts(size_t slot) const { return columns_[slot].texts.data(); }
  const uint8_t* valid(size_t slot) const { return columns_[slot].valid.data(); }
  // Some of its texts become invalid on clear().
  bool has_own_texts(size_t slot) const { return columns_[slot].has_own; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Column {
    std::vector<int64_t> numbers;
    std::vector<std::string_view> texts;  // empty for a column without texts
    std::vector<uint8_t> valid;
    bool has_own = false;
  };
  void grow() {
    room_ = room_ == 0 ? 2560 : room_ * 2;
    for (Column& column : columns_) {
      column.numbers.resize(room_);
      if (!column.texts.empty()) column.texts.resize(room_);
      column.valid.resize(room_);
    }
  }

  std::vector<uint32_t> slots_;  // by column
  std::vector<Column> columns_;
  std::deque<std::string> own_;
  size_t rows_ = 0, room_ = 0;
};

}  // namespace penna

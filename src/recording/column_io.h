// SPDX-License-Identifier: MIT
// Columns as they are written and read: numbers of any size as a code byte and low bits.
//
// Why bits apart: the code says how big a number is, which compresses; the low bits of a time are noise, which does not.
// Invariant: ColumnReader gives back what ColumnWriter was given; of other bytes it makes some numbers, or ok() is false.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "recording/column_model.h"
#include "recording/columns.h"

namespace penna {

// Numbers: a code byte, then low bits.
//   0..31         the number
//   32 + 4*k + m  k = 0..26: 2^(k+5) * (1 + m/4) and k+3 low bits
//   140 + k       k = 0..31: 2^(k+32) and k+32 low bits
// 255 in a column of times or addresses: the number behind it is coded without prediction or shift.
inline constexpr uint8_t kEscape = 255;

inline uint64_t zigzag(uint64_t difference) {
  return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}
inline uint64_t unzigzag(uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }
inline uint64_t mask_of(uint32_t bits) { return (uint64_t{1} << bits) - 1; }

class ColumnWriter {
 public:
  static constexpr bool kWrites = true;

  ColumnWriter() {
    size_t total = 0;
    for (size_t i = 0; i < kColumnCount; ++i) total += capacity(i);
    memory_.resize(total);
  }
  void begin() {
    uint8_t* at = memory_.data();
    for (size_t i = 0; i < kColumnCount; ++i) {
      begin_[i] = end_[i] = at;
      at += capacity(i);
    }
    bits_ = 0;
    bit_count_ = 0;
  }

  void byte(Column column, uint8_t& value) { *end_[index(column)]++ = value; }
  [[gnu::always_inline]] void number(Column column, uint64_t& value) { put(end_[index(column)], value); }
  bool escape(Column column, bool wanted) {
    if (wanted) *end_[index(column)]++ = kEscape;
    return wanted;
  }
  void fail() {
    constexpr bool kEncoderMakesNumbersInRange = false;
    PENNA_CHECK(kEncoderMakesNumbersInRange);
  }
  bool ok() const { return true; }

  void finish(std::vector<uint8_t>& out) {
    std::memcpy(end_[index(Column::kBits)], &bits_, sizeof bits_);
    end_[index(Column::kBits)] += (bit_count_ + 7) / 8;
    out.resize(kColumnTable);
    for (size_t i = 0; i < kColumnCount; ++i) {
      auto size = static_cast<uint32_t>(end_[i] - begin_[i]);
      PENNA_CHECK(size <= capacity(i));
      std::memcpy(out.data() + i * sizeof size, &size, sizeof size);
      out.insert(out.end(), begin_[i], end_[i]);
    }
  }

 private:
  static size_t index(Column column) { return static_cast<size_t>(column); }
  // A word of the chunk gives at most 2 codes to one column, and at most 80 bits.
  static size_t capacity(size_t i) { return (i == index(Column::kBits) ? 10 : 2) * kMaxChunkWords + 256; }

  [[gnu::always_inline]] void put(uint8_t*& to, uint64_t value) {
    if (value >> 32 != 0) [[unlikely]] {
      auto high = static_cast<uint32_t>(31 - __builtin_clz(static_cast<uint32_t>(value >> 32)));
      *to++ = static_cast<uint8_t>(140 + high);
      put_bits(value & mask_of(32), 32);
      put_bits(value >> 32 & mask_of(high), high);
      return;
    }
    // No branch on small or not: the clock decides that, and no processor foresees it.
    auto number = static_cast<uint32_t>(value);
    auto low = static_cast<uint32_t>(29 - __builtin_clz(number | 32));
    uint32_t code = low * 4 + 16 + (number >> low);
    bool small = number < 32;
    *to++ = static_cast<uint8_t>(small ? number : code);
    low = small ? 0 : low;
    put_bits(number & mask_of(low), low);
  }

  // At most 32 bits.
  [[gnu::always_inline]] void put_bits(uint64_t value, uint32_t count) {
    bits_ |= value << bit_count_;
    bit_count_ += count;
    uint8_t*& to = end_[index(Column::kBits)];
    std::memcpy(to, &bits_, sizeof bits_);
    to += bit_count_ / 8;
    bits_ >>= bit_count_ & ~7u;
    bit_count_ &= 7;
  }

  std::vector<uint8_t> memory_;
  std::array<uint8_t*, kColumnCount> begin_{}, end_{};
  uint64_t bits_ = 0;
  uint32_t bit_count_ = 0;
};

// The bytes are untrusted: whatever is missing reads as zero and makes ok() false.
class ColumnReader {
 public:
  static constexpr bool kWrites = false;

  bool begin(std::span<const uint8_t> columns) {
    bit_at_ = 0;
    ok_ = true;
    if (columns.size() < kColumnTable || columns.size() > kMaxColumnBytes) return false;
    const uint8_t* table = columns.data();
    auto rest = columns.subspan(kColumnTable);
    for (size_t i = 0; i < kColumnCount; ++i) {
      uint32_t size;
      std::memcpy(&size, table + i * sizeof size, sizeof size);
      if (size > rest.size()) return false;
      at_[i] = rest.data();
      end_[i] = rest.data() + size;
      rest = rest.subspan(size);
    }
    return rest.empty();
  }

  void byte(Column column, uint8_t& value) { value = take(index(column)); }
  void number(Column column, uint64_t& value) { value = get(index(column)); }
  bool escape(Column column, bool) {
    size_t i = index(column);
    if (at_[i] == end_[i] || *at_[i] != kEscape) return false;
    ++at_[i];
    return true;
  }
  void fail() { ok_ = false; }
  bool ok() const { return ok_; }

 private:
  static size_t index(Column column) { return static_cast<size_t>(column); }

  uint8_t take(size_t i) {
    if (at_[i] == end_[i]) [[unlikely]] {
      ok_ = false;
      return 0;
    }
    return *at_[i]++;
  }
  uint64_t get(size_t i) {
    uint32_t code = take(i);
    if (code < 32) return code;
    if (code < 140) {
      uint32_t low = (code - 32) / 4 + 3;
      return uint64_t{4 + (code & 3)} << low | get_bits(low);
    }
    if (code >= 172) {
      ok_ = false;
      return 0;
    }
    uint32_t high = code - 140;
    uint64_t value = get_bits(32);
    return value | (uint64_t{1} << high | get_bits(high)) << 32;
  }
  uint64_t get_bits(uint32_t count) {
    const uint8_t*& at = at_[index(Column::kBits)];
    auto left = static_cast<size_t>(end_[index(Column::kBits)] - at);
    uint64_t word = 0;
    if (left >= sizeof word) [[likely]]
      std::memcpy(&word, at, sizeof word);
    else
      std::memcpy(&word, at, left);
    uint64_t value = word >> bit_at_ & mask_of(count);
    bit_at_ += count;
    size_t bytes = bit_at_ / 8;
    if (bytes + ((bit_at_ & 7) != 0) > left) [[unlikely]] {
      ok_ = false;
      bit_at_ = 0;
      return 0;
    }
    at += bytes;
    bit_at_ &= 7;
    return value;
  }

  std::array<const uint8_t*, kColumnCount> at_{}, end_{};
  uint32_t bit_at_ = 0;
  bool ok_ = true;
};

}  // namespace penna

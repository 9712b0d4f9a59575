// SPDX-License-Identifier: MIT
// Reading and writing columns: numbers of any size as a code byte and low bits.
//
// Why bits apart: the code says how big a number is, which compresses; the low bits of a time are noise, which does
// not.
// Invariant: ColumnReader returns what ColumnWriter was given; from other bytes it makes some numbers, or ok is false.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "recording/columns/column_model.h"
#include "recording/columns/columns.h"

namespace penna {

// Numbers: a code byte, then low bits.
//   0..31         the number
//   32 + 4*k + m  k = 0..26: 2^(k+5) * (1 + m/4) and k+3 low bits
//   140 + k       k = 0..31: 2^(k+32) and k+32 low bits
// 255 in a column of times or addresses: the number after it is coded without prediction or shift.
inline constexpr uint8_t kEscape = 255;
inline constexpr uint32_t kMaxTimeShift = 8;  // low bits that are zero in all times of a chunk

inline uint64_t zigzag(uint64_t difference) {
  return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}
inline uint64_t unzigzag(uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }
inline uint64_t mask_of(uint32_t bits) { return (uint64_t{1} << bits) - 1; }

// A word of the chunk gives at most 2 codes to one column, and at most 80 bits.
inline constexpr size_t column_capacity(size_t column) {
  return (column == static_cast<size_t>(Column::kBits) ? 10 : 2) * kMaxChunkWords + 256;
}

// Where the columns are built, and their joined form. About 300 KiB.
class ColumnMemory {
 public:
  ColumnMemory() : bytes_(kTotal) {}
  uint8_t* begin_of(size_t column) { return bytes_.data() + kBegins[column]; }

  // Writes the table and the columns, each of which ends at its place in `ends`.
  void join(const std::array<uint8_t*, kColumnCount>& ends, std::vector<uint8_t>& out) {
    std::array<uint32_t, kColumnCount> sizes;
    size_t total = kColumnTable;
    for (size_t i = 0; i < kColumnCount; ++i) {
      sizes[i] = static_cast<uint32_t>(ends[i] - begin_of(i));
      PENNA_CHECK(sizes[i] <= column_capacity(i));
      total += sizes[i];
    }
    out.resize(total);
    uint8_t* to = out.data();
    static_assert(sizeof sizes == kColumnTable);
    std::memcpy(to, sizes.data(), kColumnTable);
    to += kColumnTable;
    for (size_t i = 0; i < kColumnCount; to += sizes[i++]) std::memcpy(to, begin_of(i), sizes[i]);
  }

 private:
  static constexpr std::array<size_t, kColumnCount> kBegins = [] {
    std::array<size_t, kColumnCount> begins{};
    for (size_t i = 1; i < kColumnCount; ++i) begins[i] = begins[i - 1] + column_capacity(i - 1);
    return begins;
  }();
  static constexpr size_t kTotal = kBegins[kColumnCount - 1] + column_capacity(kColumnCount - 1);

  std::vector<uint8_t> bytes_;
};

// The ends of all columns, for a loop to keep in registers: a byte that is written may alias anything, even the ends
// themselves, as long as these are in memory. So a ColumnWriter on the stack that is never passed to a function that is
// not inlined is several times as fast.
class ColumnWriter {
 public:
  static constexpr bool kWrites = true;
  static constexpr bool kWholeSizes = false;

  [[gnu::always_inline]] explicit ColumnWriter(ColumnMemory& memory) {
    for (size_t i = 0; i < kColumnCount; ++i) end_[i] = memory.begin_of(i);
  }

  [[gnu::always_inline]] void byte(Column column, uint8_t& value) { *end_[index(column)]++ = value; }
  [[gnu::always_inline]] void bytes(Column column, std::span<const uint8_t> values) {
    std::memcpy(end_[index(column)], values.data(), values.size());
    end_[index(column)] += values.size();
  }
  [[gnu::always_inline]] void number(Column column, uint64_t& value) {
    // Whether a time is small depends on the clock, which no branch predictor foresees; most other numbers are small.
    const bool is_time = column == Column::kEntryTimes || column == Column::kExitTimes ||
                         column == Column::kAllocTimes || column == Column::kOtherTimes;
    if (!is_time && value < 32)
      *end_[index(column)]++ = static_cast<uint8_t>(value);
    else
      put(end_[index(column)], value);
  }
  bool short_number(Column, uint64_t&) { return false; }
  [[gnu::always_inline]] bool escape(Column column, bool wanted) {
    if (wanted) *end_[index(column)]++ = kEscape;
    return wanted;
  }
  void fail() {
    constexpr bool kEncoderMakesNumbersInRange = false;
    PENNA_CHECK(kEncoderMakesNumbersInRange);
  }

  // Writes the last bits. Returns where each column ends.
  [[gnu::always_inline]] std::array<uint8_t*, kColumnCount> finish() {
    std::memcpy(end_[index(Column::kBits)], &bits_, sizeof bits_);
    end_[index(Column::kBits)] += (bit_count_ + 7) / 8;
    return end_;
  }

 private:
  static constexpr size_t index(Column column) { return static_cast<size_t>(column); }

  [[gnu::always_inline]] void put(uint8_t*& to, uint64_t value) {
    if (value >> 32 != 0) [[unlikely]] {
      auto high = static_cast<uint32_t>(31 - __builtin_clz(static_cast<uint32_t>(value >> 32)));
      *to++ = static_cast<uint8_t>(140 + high);
      put_bits(value & mask_of(32), 32);
      put_bits(value >> 32 & mask_of(high), high);
      return;
    }
    // No branch on small or not: it depends on the clock and cannot be predicted.
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

  std::array<uint8_t*, kColumnCount> end_;
  uint64_t bits_ = 0;
  uint32_t bit_count_ = 0;
};

// Packs the bytes from `begin` to `end`, all below 16, into nibbles, the low one first. Returns the new end. Writes one
// byte past `end`.
inline uint8_t* pack_nibbles(uint8_t* begin, uint8_t* end) {
  *end = 0;
  const auto pairs = static_cast<size_t>(end - begin + 1) / 2;
  for (size_t i = 0; i < pairs; ++i) begin[i] = static_cast<uint8_t>(begin[2 * i] | begin[2 * i + 1] << 4);
  return begin + pairs;
}

// The remaining code bytes of one column.
struct CodeLane {
  const uint8_t* at = nullptr;
  const uint8_t* end = nullptr;
};

// The bytes are untrusted: a missing one reads as zero and sets `ok` to false.
[[gnu::always_inline]] inline uint8_t take_code(CodeLane& codes, bool& ok) {
  if (codes.at == codes.end) [[unlikely]] {
    ok = false;
    return 0;
  }
  return *codes.at++;
}

// kOps: nibbles, the low one first.
class OpLane {
 public:
  OpLane() = default;
  explicit OpLane(CodeLane codes) : codes_(codes.at), size_(2 * static_cast<size_t>(codes.end - codes.at)) {}
  size_t left() const { return size_ - at_; }
  uint8_t peek() const { return codes_[at_ / 2] >> at_ % 2 * 4 & 15; }  // only if left() > 0
  void pass() { ++at_; }

 private:
  const uint8_t* codes_ = nullptr;
  size_t at_ = 0, size_ = 0;
};

// kBits. Reads eight bytes at a time; the last reads begin before the column, where at least the table precedes it.
class BitLane {
 public:
  BitLane() = default;
  explicit BitLane(CodeLane bytes)
      : bytes_(bytes.at), size_(8 * static_cast<uint64_t>(bytes.end - bytes.at)), last_(bytes.end - bytes.at - 8) {}

  // At most 32 bits; zero and `ok` = false if they are missing.
  [[gnu::always_inline]] uint64_t take(uint32_t count, bool& ok) {
    if (at_ + count > size_) [[unlikely]] {
      ok = false;
      return 0;
    }
    return take_unchecked(mask_of(count), count);
  }
  // Unchecked variant: overrun() reports later whether bits were missing.
  [[gnu::always_inline]] uint64_t take_unchecked(uint64_t mask, uint32_t count) {
    const int64_t byte = std::min(static_cast<int64_t>(at_ / 8), last_);
    uint64_t word;
    std::memcpy(&word, bytes_ + byte, sizeof word);
    const uint64_t bits = word >> ((at_ - static_cast<uint64_t>(8 * byte)) & 63) & mask;
    at_ += count;
    return bits;
  }
  bool overrun() const { return at_ > size_; }

 private:
  const uint8_t* bytes_ = nullptr;
  uint64_t at_ = 0, size_ = 0;  // in bits
  int64_t last_ = 0;            // where the last eight bytes begin
};
static_assert(kColumnTable >= 8);

// For codes below 140: the base value, and the low bits that follow.
struct Code {
  uint32_t base, mask, low_bits;
};
inline constexpr uint32_t kOneWordCodes = 140;
inline constexpr std::array<Code, kOneWordCodes> kCodes = [] {
  std::array<Code, kOneWordCodes> codes{};
  for (uint32_t code = 0; code < kOneWordCodes; ++code) {
    const uint32_t low = code < 32 ? 0 : (code - 32) / 4 + 3;
    codes[code] = {code < 32 ? code : (4 + (code & 3)) << low, (uint32_t{1} << low) - 1, low};
  }
  return codes;
}();

[[gnu::always_inline]] inline uint64_t take_number(CodeLane& codes, BitLane& bits, bool& ok) {
  const uint32_t code = take_code(codes, ok);
  if (code < kOneWordCodes) [[likely]]
    return kCodes[code].base | bits.take(kCodes[code].low_bits, ok);
  if (code >= 172) {
    ok = false;
    return 0;
  }
  const uint32_t high = code - kOneWordCodes;
  const uint64_t value = bits.take(32, ok);
  return value | (uint64_t{1} << high | bits.take(high, ok)) << 32;
}
[[gnu::always_inline]] inline bool take_escape(CodeLane& codes) {
  if (codes.at == codes.end || *codes.at != kEscape) return false;
  ++codes.at;
  return true;
}

// Maps each Column to its place in version 1, where allocation times are among the others, sizes and families in one.
inline constexpr std::array<uint8_t, kColumnCount> kPlacesInVersion1 = {0, 1, 2, 3,  4,  4,  5,  6,  7,  8,
                                                                        8, 8, 9, 10, 11, 12, 13, 14, 15, 16};

template <uint32_t kVersion>
class ColumnReader {
 public:
  static constexpr bool kWrites = false;
  static constexpr bool kWholeSizes = kVersion == 1;  // a size is one number
  static constexpr size_t kColumns = kVersion == 1 ? 17 : kColumnCount;

  [[gnu::always_inline]] bool begin(std::span<const uint8_t> columns) {
    constexpr size_t kTable = kColumns * sizeof(uint32_t);
    ok = true;
    if (columns.size() < kTable || columns.size() > kMaxColumnBytes) return false;
    const uint8_t* table = columns.data();
    auto rest = columns.subspan(kTable);
    for (size_t i = 0; i < kColumns; ++i) {
      uint32_t size;
      std::memcpy(&size, table + i * sizeof size, sizeof size);
      if (size > rest.size()) return false;
      codes_[i] = {rest.data(), rest.data() + size};
      rest = rest.subspan(size);
    }
    bits = BitLane(lane(Column::kBits));
    return rest.empty();
  }

  [[gnu::always_inline]] void byte(Column column, uint8_t& value) { value = take_code(lane(column), ok); }
  [[gnu::always_inline]] void number(Column column, uint64_t& value) { value = take_number(lane(column), bits, ok); }
  bool short_number(Column, uint64_t&) { return false; }
  [[gnu::always_inline]] bool escape(Column column, bool) { return take_escape(lane(column)); }
  void fail() { ok = false; }
  [[gnu::always_inline]] CodeLane& lane(Column column) {
    const auto place = static_cast<size_t>(column);
    return codes_[kVersion == 1 ? kPlacesInVersion1[place] : place];
  }

  BitLane bits;
  bool ok = true;

 private:
  std::array<CodeLane, kColumns> codes_{};
};

// The part of a ColumnReader that calls need, for a loop to keep in registers: constructed from it, written back by
// release() at the end. The loop checks once, with safe_calls(), whether the codes suffice for many calls; missing low
// bits show in release().
class CallColumnReader {
 public:
  static constexpr bool kWrites = false;

  template <typename Reader>
  explicit CallColumnReader(Reader& all)
      : ok(all.ok),
        entries_(all.lane(Column::kEntryTimes)),
        exits_(all.lane(Column::kExitTimes)),
        pcs_(all.lane(Column::kPcs)),
        bits_(all.bits) {}
  template <typename Reader>
  void release(Reader& all) const {
    all.lane(Column::kEntryTimes) = entries_;
    all.lane(Column::kExitTimes) = exits_;
    all.lane(Column::kPcs) = pcs_;
    all.bits = bits_;
    all.ok = ok && !bits_.overrun();
  }
  // A call takes at most two codes from a column of times.
  size_t safe_calls() const {
    return static_cast<size_t>(std::min(entries_.end - entries_.at, exits_.end - exits_.at)) / 2;
  }
  // A one-word number of a call's time, as nearly all are.
  [[gnu::always_inline]] bool short_number(Column column, uint64_t& value) {
    CodeLane& codes = lane(column);
    const uint32_t code = *codes.at;
    if (code >= kOneWordCodes) [[unlikely]]
      return false;
    ++codes.at;
    value = kCodes[code].base | bits_.take_unchecked(kCodes[code].mask, kCodes[code].low_bits);
    return true;
  }

  [[gnu::always_inline]] void number(Column column, uint64_t& value) { value = take_number(lane(column), bits_, ok); }
  [[gnu::always_inline]] bool escape(Column column, bool) { return take_escape(lane(column)); }
  void fail() { ok = false; }

  bool ok;

 private:
  [[gnu::always_inline]] CodeLane& lane(Column column) {
    return column == Column::kEntryTimes ? entries_ : column == Column::kExitTimes ? exits_ : pcs_;
  }

  CodeLane entries_, exits_, pcs_;
  BitLane bits_;
};

}  // namespace penna

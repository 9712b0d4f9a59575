// SPDX-License-Identifier: MIT
// PackedNumbers: the encoding of numbers in a recording's index: seven bits a byte, signed ones as zigzag, in one zstd
// frame that states its size, preceded by its checksum (XXH3-64).
//
// Usage:  NumberWriter out; out.number(7); store(pack(out));
//        auto plain = unpack(bytes); NumberReader in(*plain); in.number(); if (!in.ok()) …
// Invariant: the bytes are untrusted. After the first invalid number, ok() is false for good.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace penna {

class NumberWriter {
 public:
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  void difference(int64_t value) { number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63)); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

class NumberReader {
 public:
  explicit NumberReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) break;
      const uint8_t byte = bytes_[at_++];
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  int64_t difference() {
    const uint64_t value = number();
    return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1)));
  }
  // Times beyond what any recording has are damage; so sums of them stay within 64 bits.
  int64_t time(int64_t from, int64_t by) {
    int64_t sum = 0;
    if (__builtin_add_overflow(from, by, &sum) || sum > kMostTime || sum < -kMostTime) return ok_ = false, 0;
    return sum;
  }
  // A nonnegative time.
  int64_t length() {
    const uint64_t value = number();
    if (value > static_cast<uint64_t>(kMostTime)) return ok_ = false, 0;
    return static_cast<int64_t>(value);
  }
  uint32_t small() {
    const uint64_t value = number();
    if (value > UINT32_MAX) ok_ = false;
    return static_cast<uint32_t>(value);
  }
  // The number of elements of at least so many bytes each.
  size_t count(size_t least_bytes = 1) {
    const uint64_t value = number();
    if (value > (bytes_.size() - at_) / least_bytes) return ok_ = false, 0;
    return static_cast<size_t>(value);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  static constexpr int64_t kMostTime = INT64_C(1) << 62;
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

std::vector<uint8_t> pack(const NumberWriter& numbers);
// Empty: not such bytes, or incomplete.
std::optional<std::vector<uint8_t>> unpack(std::span<const uint8_t> bytes);

}  // namespace penna

// SPDX-License-Identifier: MIT
// ByteCursor: reads little-endian values from untrusted bytes; every read is bounds-checked.
//
// Usage:  ByteCursor in(bytes); uint32_t n = in.u32(); auto name = in.string(); if (!in) return Error{...};
// Invariant: after the first read past the end, ok() stays false and every later read returns zero or empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace penna {

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (auto from = take(sizeof(T)); !from.empty()) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  uint8_t u8() { return get<uint8_t>(); }
  uint16_t u16() { return get<uint16_t>(); }
  uint32_t u32() { return get<uint32_t>(); }
  uint64_t u64() { return get<uint64_t>(); }

  // `size` bytes in place, or empty (and !ok()) if fewer are left.
  std::span<const uint8_t> take(size_t size) {
    if (size > bytes_.size() - position_) {
      ok_ = false;
      position_ = bytes_.size();
      return {};
    }
    auto result = bytes_.subspan(position_, size);
    position_ += size;
    return result;
  }

  // A string as ByteWriter::string() writes it: u32 length, then the bytes.
  std::string_view string() {
    auto from = take(u32());
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }

 private:
  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

// The writing counterpart: appends little-endian values to its own buffer.
class ByteWriter {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* from = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(T));
  }
  void bytes(std::span<const uint8_t> from) { bytes_.insert(bytes_.end(), from.begin(), from.end()); }
  void string(std::string_view text) {
    put(static_cast<uint32_t>(text.size()));
    bytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  const std::vector<uint8_t>& data() const { return bytes_; }
  std::vector<uint8_t> release() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace penna

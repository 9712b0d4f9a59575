// SPDX-License-Identifier: MIT
// Section and Cursor: bytes of a mapped ELF image with their addresses, read with every bound checked.
//
// Why: .eh_frame is full of self-relative pointers, so bytes and addresses go together; keeping the address separate
// from the data pointer lets the same parser read a loaded module, a file and a fuzzer's buffer.
// Invariant: a Cursor never reads outside [data, data + size) of its Section; after the first failed read ok() stays
// false and every later read returns 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penna::unwind {

struct Section {
  const uint8_t* data = nullptr;
  size_t size = 0;
  uint64_t address = 0;  // of data[0] as the pointers in the section mean it; for a loaded module: the real address

  bool contains(uint64_t at) const { return at - address < size; }
};

class Cursor {
 public:
  Cursor() = default;  // reads nothing, !ok()
  // Reads [address, end) of `section`, cut to the section.
  explicit Cursor(const Section& section) : Cursor(section, section.address, section.address + section.size) {}
  Cursor(const Section& section, uint64_t address, uint64_t end) : section_(section) {
    ok_ = section.size != 0 && address - section.address <= section.size;
    position_ = ok_ ? address - section.address : 0;
    const uint64_t wanted = end - section.address;
    end_ = !ok_ ? 0 : (end < address || wanted > section.size) ? section.size : wanted;
  }

  bool ok() const { return ok_; }
  size_t left() const { return ok_ ? end_ - position_ : 0; }
  uint64_t address() const { return section_.address + position_; }

  uint8_t u8() { return fixed<uint8_t>(); }
  uint16_t u16() { return fixed<uint16_t>(); }
  uint32_t u32() { return fixed<uint32_t>(); }
  uint64_t u64() { return fixed<uint64_t>(); }
  int8_t s8() { return fixed<int8_t>(); }
  int16_t s16() { return fixed<int16_t>(); }
  int32_t s32() { return fixed<int32_t>(); }
  int64_t s64() { return fixed<int64_t>(); }
  uint64_t uleb() { return leb(false); }
  int64_t sleb() { return static_cast<int64_t>(leb(true)); }

  void skip(uint64_t bytes) {
    if (bytes > left()) return fail();
    position_ += bytes;
  }
  // The next `bytes` as a separate cursor; this one moves past them.
  Cursor take(uint64_t bytes) {
    const uint64_t from = address();
    skip(bytes);
    Cursor part(section_, from, ok_ ? from + bytes : from);
    part.ok_ = part.ok_ && ok_;
    return part;
  }

 private:
  void fail() {
    ok_ = false;
    position_ = end_;
  }
  template <typename T>
  T fixed() {
    T value = 0;
    if (left() < sizeof(T)) {
      fail();
    } else {
      __builtin_memcpy(&value, section_.data + position_, sizeof(T));
      position_ += sizeof(T);
    }
    return value;
  }
  // LEB128, DWARF 5 section 7.6; bits past the 64th are dropped.
  uint64_t leb(bool with_sign) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = u8();
      if (!ok_) return 0;
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      if (byte & 0x80) continue;
      if (with_sign && (byte & 0x40) && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return value;
    }
  }

  Section section_;
  size_t position_ = 0;
  size_t end_ = 0;
  bool ok_ = false;
};

}  // namespace penna::unwind

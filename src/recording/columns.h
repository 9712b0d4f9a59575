// SPDX-License-Identifier: MIT
// Chunks as columns: the transformation behind layout::Codec::kColumns. docs/format.md specifies the columns.
//
// Why: zstd alone sees times, addresses and ids interleaved, and finds little. Apart, each compresses by its own
// habits: an exit leaves the function that was entered last, a caller calls what it called before, malloc gives what
// was freed.
// Invariant: from_columns(to_columns(x)) == x for any bytes x of a chunk's size, bit by bit, damaged chunks included.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "recording/layout.h"

namespace penna {

// What the numbers of a column mean. Each is a run of code bytes; bits below the codes' precision are in kBits.
enum class Column : uint8_t {
  kRaw,         // the chunk's header; bytes behind the last whole word
  kOps,         // one nibble a step
  kEntryTimes,  // differences, by what was recorded
  kExitTimes,
  kAllocTimes,
  kOtherTimes,
  kPcs,        // of calls that were not foreseen: index of a dictionary, or new ones
  kAllocs,     // a byte of flags each: what was foreseen
  kStacks,     // of allocations, as kPcs
  kSizes,      // of allocations, the low byte
  kSizesHigh,  // what is above it
  kFamilies,
  kAddresses,        // of allocations: place in a free list, or difference
  kFreesAfterAlloc,  // which block, counted back from the newest
  kFreesAfterFree,   // which block, from the one freed before
  kFreesUnknown,     // blocks from before this chunk: difference of addresses
  kLocks,            // addresses that were not foreseen, as kPcs
  kKinds,            // of records without columns of their own: kind, then length
  kWords,            // their payloads: differences to the record of that kind before
  kBits,             // low bits of all numbers, in order
};
inline constexpr size_t kColumnCount = 20;
inline constexpr size_t kCodeColumns = kColumnCount - 1;  // all but kBits, the last

// In front of the columns: u32 total bytes of each, in the order of Column.
inline constexpr size_t kColumnTable = kColumnCount * sizeof(uint32_t);
inline constexpr size_t kMaxColumnBytes = 256 << 10;  // table and columns of one chunk: more is no valid chunk

// Of columns that were encoded here.
inline uint32_t column_bytes_of(std::span<const uint8_t> columns, size_t column) {
  uint32_t size;
  std::memcpy(&size, columns.data() + column * sizeof size, sizeof size);
  return size;
}
inline size_t bits_begin(std::span<const uint8_t> columns) {
  return columns.size() - column_bytes_of(columns, kCodeColumns);
}

// Encodes one chunk after the other. About 300 KiB.
class ColumnEncoder {
 public:
  ColumnEncoder();
  ColumnEncoder(ColumnEncoder&&) noexcept;
  ColumnEncoder& operator=(ColumnEncoder&&) noexcept;
  ~ColumnEncoder();

  // Table and columns in `out` (reused). False when `chunk` has no header or is longer than a chunk.
  bool encode(std::span<const uint8_t> chunk, std::vector<uint8_t>& out);

  // Of the chunk that was encoded last: the pcs of its calls, and the words of its records of locks with addresses. All
  // that occur, few of them more than once.
  std::span<const uint64_t> call_pcs() const;
  std::span<const uint64_t> lock_words() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// False when `columns` are not those of a chunk of `raw_bytes`. Thread-safe.
bool from_columns(std::span<const uint8_t> columns, size_t raw_bytes, std::vector<uint8_t>& chunk,
                  uint32_t version = layout::kVersion);

}  // namespace penna

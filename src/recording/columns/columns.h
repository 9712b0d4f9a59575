// SPDX-License-Identifier: MIT
// Chunks as columns: the transformation for layout::Codec::kColumns. docs/format.md specifies the columns.
//
// Why: zstd alone sees times, addresses and ids interleaved, and finds little. Separated, each is predictable: an exit
// leaves the function entered last, a caller calls what it called before, malloc returns what was freed.
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

// Each column is a run of code bytes; bits below the codes' precision are in kBits.
enum class Column : uint8_t {
  kRaw,         // the chunk's header; bytes after the last whole word
  kOps,         // one nibble per step
  kEntryTimes,  // differences, one column per kind of record
  kExitTimes,
  kAllocTimes,
  kOtherTimes,
  kPcs,        // of calls that were not predicted: dictionary index, or new values
  kAllocs,     // one byte of flags each: what was predicted
  kStacks,     // of allocations, like kPcs
  kSizes,      // of allocations, the low byte
  kSizesHigh,  // the remaining bytes
  kFamilies,
  kAddresses,        // of allocations: place in a free list, or difference
  kFreesAfterAlloc,  // which block, counted back from the newest
  kFreesAfterFree,   // which block, relative to the one freed before
  kFreesUnknown,     // blocks from before this chunk: address difference
  kLocks,            // addresses that were not predicted, like kPcs
  kKinds,            // of records without dedicated columns: kind, then length
  kWords,            // their payloads: differences from the previous record of that kind
  kBits,             // low bits of all numbers, in order
};
inline constexpr size_t kColumnCount = 20;
inline constexpr size_t kCodeColumns = kColumnCount - 1;  // all but kBits, the last

// Before the columns: u32 total bytes of each, in the order of Column.
inline constexpr size_t kColumnTable = kColumnCount * sizeof(uint32_t);
inline constexpr size_t kMaxColumnBytes = 256 << 10;  // table and columns of one chunk: anything longer is invalid

// Only for columns that were encoded here.
inline uint32_t column_bytes_of(std::span<const uint8_t> columns, size_t column) {
  uint32_t size;
  std::memcpy(&size, columns.data() + column * sizeof size, sizeof size);
  return size;
}
inline size_t bits_begin(std::span<const uint8_t> columns) {
  return columns.size() - column_bytes_of(columns, kCodeColumns);
}

// Encodes one chunk after another. About 300 KiB.
class ColumnEncoder {
 public:
  ColumnEncoder();
  ColumnEncoder(ColumnEncoder&&) noexcept;
  ColumnEncoder& operator=(ColumnEncoder&&) noexcept;
  ~ColumnEncoder();

  // Writes table and columns to `out` (reused). False if `chunk` has no header or is longer than a chunk.
  bool encode(std::span<const uint8_t> chunk, std::vector<uint8_t>& out);

  // From the chunk encoded last: the pcs of its calls, and the words of its lock records with addresses. All that
  // occur; few are repeated.
  std::span<const uint64_t> call_pcs() const;
  std::span<const uint64_t> lock_words() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// False if `columns` do not encode a chunk of `raw_bytes`. Thread-safe.
bool from_columns(std::span<const uint8_t> columns, size_t raw_bytes, std::vector<uint8_t>& chunk,
                  uint32_t version = layout::kVersion);

}  // namespace penna

// SPDX-License-Identifier: MIT
// See unwind_table.h.
#include "symbols/elf/unwind_table.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace penna {
namespace {

// Version, encodings of the pointer to .eh_frame, of the count and of the table; then that pointer and the count, 4
// bytes each.
constexpr size_t kTableHeaderBytes = 12;
constexpr size_t kTableEntryBytes = 8;
constexpr uint8_t kUnsigned4 = 0x03;          // DW_EH_PE_udata4
constexpr uint8_t kRelativeToHeader4 = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4

uint32_t load(std::span<const uint8_t> bytes, size_t at) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

uint64_t load_signed(std::span<const uint8_t> bytes, size_t at) {
  return static_cast<uint64_t>(int64_t{static_cast<int32_t>(load(bytes, at))});
}

}  // namespace

UnwindTable::UnwindTable(const ElfFile& file) : file_(file) {
  for (const GElf_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    const auto bytes = file.bytes_at(segment.p_vaddr, segment.p_filesz);
    if (bytes.size() < kTableHeaderBytes || bytes[0] != 1 || (bytes[1] & 0x0f) != 0x0b || bytes[2] != kUnsigned4 ||
        bytes[3] != kRelativeToHeader4)
      return;
    header_ = segment.p_vaddr;
    const size_t entries = std::min<size_t>(load(bytes, 8), (bytes.size() - kTableHeaderBytes) / kTableEntryBytes);
    table_ = bytes.subspan(kTableHeaderBytes, entries * kTableEntryBytes);
    return;
  }
}

uint64_t UnwindTable::begin_of(size_t entry) const { return header_ + load_signed(table_, entry * kTableEntryBytes); }

std::optional<AddressRange> UnwindTable::function_at(uint64_t address) const {
  size_t low = 0, high = table_.size() / kTableEntryBytes;  // the last one that begins at or before the address
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (begin_of(middle) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return std::nullopt;
  const uint64_t begin = begin_of(low - 1);
  // Length, offset of the CIE, the function's beginning (relative to this word, as all linkers write it), its length.
  const uint64_t description = header_ + load_signed(table_, (low - 1) * kTableEntryBytes + 4);
  const auto bytes = file_.bytes_at(description, 16);
  if (bytes.size() < 16 || description + 8 + load_signed(bytes, 8) != begin) return std::nullopt;
  const AddressRange range{begin, begin + load(bytes, 12)};
  return range.contains(address) ? std::optional(range) : std::nullopt;
}

}  // namespace penna

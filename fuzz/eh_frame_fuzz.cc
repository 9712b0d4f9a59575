// SPDX-License-Identifier: MIT
// Fuzzes the CFI parser: the input is a fake .eh_frame_hdr and .eh_frame; nothing outside of them may be read.
//
// Input: [u16 size of the header][u8 flags][u8 pc hint][header bytes][frame bytes]. Both sections are copied to exact
// heap blocks, so that AddressSanitizer catches the first byte out of bounds. Flag bit 0 removes the header (entries
// are scanned).
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "unwind/cfi.h"

namespace {

using namespace penna::unwind;

constexpr uint64_t kHeaderAddress = 0x400000, kFrameAddress = 0x401000;

struct Copy {
  std::unique_ptr<uint8_t[]> bytes;
  Section section;
  Copy(const uint8_t* data, size_t size, uint64_t address)
      : bytes(new uint8_t[size]), section{bytes.get(), size, address} {
    if (size != 0) std::memcpy(bytes.get(), data, size);
  }
};

// A packed rule must unpack to the same, or be packed as wide.
void check_packing(const FrameRule& rule) {
  const Rule packed = pack(rule);
  if (packed.empty()) std::abort();
  if (packed.bits != kWideRule.bits && !(unpack(packed) == rule)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kPrefix = 4;
  if (size < kPrefix) return 0;
  uint16_t header_size;
  std::memcpy(&header_size, data, sizeof header_size);
  const bool without_header = (data[2] & 1) != 0;
  const uint64_t hint = data[3];
  data += kPrefix;
  size -= kPrefix;
  if (header_size > size) header_size = static_cast<uint16_t>(size);
  const Copy header(data, header_size, kHeaderAddress), frame(data + header_size, size - header_size, kFrameAddress);
  const EhFrame eh_frame{without_header ? Section{} : header.section, frame.section};

  // The pcs that the entries themselves name, and some that they may contain by chance.
  for (uint64_t pc : {uint64_t{0}, hint, kFrameAddress + hint, kHeaderAddress - hint, ~uint64_t{0}})
    check_packing(rule_at(eh_frame, pc));
  uint64_t address = kFrameAddress, next = 0;
  for (int entries = 0; entries < 64; ++entries, address = next) {
    Fde fde;
    const Entry entry = read_entry(frame.section, address, fde, next);
    if (entry == Entry::terminator) break;
    if (entry != Entry::fde) continue;
    for (uint64_t pc : {fde.begin, fde.begin + hint, fde.end - 1}) {
      check_packing(rule_at(eh_frame, pc));
      check_packing(run_cfa_program(frame.section, fde, pc));
    }
  }
  return 0;
}

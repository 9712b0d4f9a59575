// SPDX-License-Identifier: MIT
// Finding the FDE of a pc: .eh_frame_hdr's sorted table, the FDE, its CIE. See cfi.h.
#include "unwind/cfi.h"

namespace penna::unwind {
namespace {

// DW_EH_PE_…, LSB core 5.0 table 10.6 and 10.7.
constexpr uint8_t kOmit = 0xff, kIndirect = 0x80, kFormatMask = 0x0f, kBaseMask = 0x70;
constexpr uint8_t kPcRelative = 0x10, kDataRelative = 0x30, kSigned4 = 0x0b;

bool read_format(Cursor& in, uint8_t format, uint64_t& value) {
  switch (format) {
    case 0x00: value = in.u64(); break;
    case 0x01: value = in.uleb(); break;
    case 0x02: value = in.u16(); break;
    case 0x03: value = in.u32(); break;
    case 0x04: value = in.u64(); break;
    case 0x08: value = static_cast<uint64_t>(in.s64()); break;
    case 0x09: value = static_cast<uint64_t>(in.sleb()); break;
    case 0x0a: value = static_cast<uint64_t>(int64_t{in.s16()}); break;
    case 0x0b: value = static_cast<uint64_t>(int64_t{in.s32()}); break;
    case 0x0c: value = static_cast<uint64_t>(in.s64()); break;
    default: return false;
  }
  return in.ok();
}

// The head of a CIE or FDE: its length and the field that distinguishes them.
struct Head {
  Cursor body;          // after the id field, to the end of the entry
  uint64_t id_address;  // where the id field lies; an FDE's id counts back from here
  uint64_t id;
  uint64_t end;
};

bool read_head(const Section& frame, uint64_t address, Head& head) {
  Cursor in(frame, address, frame.address + frame.size);
  uint64_t length = in.u32();
  if (length == 0xffffffff) length = in.u64();
  if (!in.ok() || length == 0 || length > in.left()) return false;
  head.end = in.address() + length;
  head.body = in.take(length);
  head.id_address = head.body.address();
  head.id = head.body.u32();  // 4 bytes in .eh_frame even where the length takes 12
  return head.body.ok();
}

// The augmentation string is at most a handful of letters; more is garbage.
constexpr int kMaxAugmentation = 8;

bool read_augmentation_data(Cursor& in, const char* letters, Cie& cie) {
  uint64_t ignored;
  for (; *letters; ++letters) {
    switch (*letters) {
      case 'R': cie.fde_encoding = in.u8(); break;
      case 'S': cie.signal_frame = true; break;
      case 'B': break;  // aarch64: return addresses signed with key B
      case 'L': in.u8(); break;
      case 'P': {
        const uint8_t encoding = in.u8();
        if (encoding != kOmit) read_pointer(in, encoding & ~kIndirect & ~kBaseMask, 0, ignored);
        break;
      }
      default: return true;  // unknown letters come last, and the length shows where their data ends
    }
  }
  return in.ok();
}

bool read_cie(const Section& frame, uint64_t address, Cie& cie) {
  Head head;
  if (!read_head(frame, address, head) || head.id != 0) return false;
  Cursor& in = head.body;
  const uint8_t version = in.u8();
  if (version != 1 && version != 3 && version != 4) return false;
  char letters[kMaxAugmentation + 1] = {};
  for (int i = 0;; ++i) {
    const char letter = static_cast<char>(in.u8());
    if (!in.ok() || i == kMaxAugmentation) return false;
    if (letter == 0) break;
    letters[i] = letter;
  }
  if (letters[0] == 'e' && letters[1] == 'h') in.skip(8);  // gcc 2: a pointer that is not needed
  if (version == 4) in.skip(2);                            // address size, segment size
  cie.code_align = in.uleb();
  cie.data_align = in.sleb();
  cie.return_register = version == 1 ? in.u8() : in.uleb();
  if (letters[0] == 'z') {
    cie.has_augmentation = true;
    Cursor data = in.take(in.uleb());
    if (!read_augmentation_data(data, letters + 1, cie)) return false;
  } else if (letters[0] != 0 && letters[0] != 'e') {
    return false;  // without 'z' the size of the unknown data is not known
  }
  cie.instructions = in.address();
  cie.end = head.end;
  return in.ok();
}

// The last table entry whose begin is <= pc. Entries: {int32 begin, int32 fde}, both relative to the header.
bool search_table(const Section& header, Cursor table, uint64_t count, uint64_t pc, uint64_t& fde_address) {
  constexpr size_t kEntry = 8;
  if (count > table.left() / kEntry) count = table.left() / kEntry;
  if (count == 0) return false;
  const uint64_t first = table.address();
  const auto field = [&](uint64_t index, uint64_t offset) {
    const uint64_t at = first + index * kEntry + offset;
    return header.address + static_cast<uint64_t>(int64_t{Cursor(header, at, at + 4).s32()});
  };
  uint64_t low = 0, high = count;  // begin[low] <= pc < begin[high], once the first comparison below holds
  if (pc < field(0, 0)) return false;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (field(middle, 0) <= pc ? low : high) = middle;
  }
  fde_address = field(low, 4);
  return true;
}

// Reading every entry takes microseconds to milliseconds, once per call site: only for modules without a sorted table.
constexpr int kMaxScan = 1 << 20;

bool scan_entries(const Section& frame, uint64_t start, uint64_t pc, Fde& fde) {
  uint64_t address = start, next = 0;
  for (int i = 0; i < kMaxScan; ++i, address = next) {
    switch (read_entry(frame, address, fde, next)) {
      case Entry::terminator: return false;
      case Entry::fde:
        if (pc >= fde.begin && pc < fde.end) return true;
        break;
      case Entry::cie:
      case Entry::bad: break;
    }
  }
  return false;
}

}  // namespace

bool read_pointer(Cursor& in, uint8_t encoding, uint64_t data_base, uint64_t& value) {
  value = 0;
  if (encoding == kOmit) return false;
  const uint64_t here = in.address();
  if (!read_format(in, encoding & kFormatMask, value)) return false;
  switch (encoding & kBaseMask) {
    case 0: break;
    case kPcRelative: value += here; break;
    case kDataRelative: value += data_base; break;
    default: return false;  // textrel, funcrel and aligned: no x86 compiler emits them here
  }
  return (encoding & kIndirect) == 0;
}

Entry read_entry(const Section& frame, uint64_t address, Fde& fde, uint64_t& next) {
  Head head;
  if (!read_head(frame, address, head)) return Entry::terminator;
  next = head.end;
  if (head.id == 0) return Entry::cie;
  fde = Fde{};
  if (!read_cie(frame, head.id_address - head.id, fde.cie)) return Entry::bad;
  Cursor& in = head.body;
  uint64_t length = 0;
  if (!read_pointer(in, fde.cie.fde_encoding, 0, fde.begin)) return Entry::bad;
  if (!read_format(in, fde.cie.fde_encoding & kFormatMask, length)) return Entry::bad;
  fde.end = fde.begin + length;
  if (fde.cie.has_augmentation) in.skip(in.uleb());
  fde.instructions = in.address();
  fde.instructions_end = head.end;
  return in.ok() && fde.end >= fde.begin ? Entry::fde : Entry::bad;
}

bool find_fde(const EhFrame& eh_frame, uint64_t pc, Fde& fde) {
  uint64_t start = eh_frame.frame.address;
  if (eh_frame.header.size != 0) {
    Cursor in(eh_frame.header);
    const uint8_t version = in.u8(), frame_encoding = in.u8(), count_encoding = in.u8(), table_encoding = in.u8();
    uint64_t count = 0, fde_address = 0, next = 0;
    if (version != 1 || !read_pointer(in, frame_encoding, eh_frame.header.address, start)) return false;
    if (table_encoding == (kDataRelative | kSigned4) &&
        read_pointer(in, count_encoding, eh_frame.header.address, count)) {
      return search_table(eh_frame.header, in, count, pc, fde_address) &&
             read_entry(eh_frame.frame, fde_address, fde, next) == Entry::fde && pc >= fde.begin && pc < fde.end;
    }
  }
  return scan_entries(eh_frame.frame, start, pc, fde);
}

FrameRule rule_at(const EhFrame& eh_frame, uint64_t pc) {
  Fde fde;
  if (!find_fde(eh_frame, pc, fde)) return special_rule(FrameRule::kNone);
  return run_cfa_program(eh_frame.frame, fde, pc);
}

}  // namespace penna::unwind

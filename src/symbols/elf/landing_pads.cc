// SPDX-License-Identifier: MIT
// See landing_pads.h.
#include "symbols/elf/landing_pads.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace penna {
namespace {

// Pointer encodings, DW_EH_PE_*: a format, what it is relative to, and whether it is indirect.
constexpr uint8_t kOmitted = 0xff, kFormat = 0x0f, kBase = 0x70, kPcRelative = 0x10, kIndirect = 0x80;

// Bytes with the address of the first; after a failed read all later ones fail.
class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, uint64_t address) : bytes_(bytes), address_(address) {}
  bool ok() const { return ok_; }
  uint64_t address() const { return address_ + at_; }
  bool at_end() const { return at_ == bytes_.size(); }

  template <typename Value>
  Value fixed() {
    Value value{};
    if (bytes_.size() - at_ < sizeof value) return fail(), value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; ok_; shift += 7) {
      const auto byte = fixed<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  // 0 stays 0: no pointer.
  uint64_t pointer(uint8_t encoding) {
    const uint64_t here = address(), value = number(encoding);
    const uint8_t base = encoding & kBase;
    if ((encoding & kIndirect) != 0 || (base != 0 && base != kPcRelative)) fail();
    return base == 0 || value == 0 ? value : value + here;
  }
  uint64_t number(uint8_t encoding) {
    switch (encoding & kFormat) {
      case DW_EH_PE_absptr:
      case DW_EH_PE_udata8:
      case DW_EH_PE_sdata8: return fixed<uint64_t>();
      case DW_EH_PE_uleb128: return uleb();
      case DW_EH_PE_udata2: return fixed<uint16_t>();
      case DW_EH_PE_udata4: return fixed<uint32_t>();
      case DW_EH_PE_sdata2: return static_cast<uint64_t>(int64_t{fixed<int16_t>()});
      case DW_EH_PE_sdata4: return static_cast<uint64_t>(int64_t{fixed<int32_t>()});
      default: return fail(), 0;
    }
  }
  Reader part(uint64_t bytes) {
    Reader rest(bytes_.subspan(at_, std::min<uint64_t>(bytes, bytes_.size() - at_)), address());
    if (bytes > bytes_.size() - at_) rest.fail();
    return rest;
  }

 private:
  void fail() {
    ok_ = false;
    at_ = bytes_.size();
  }
  std::span<const uint8_t> bytes_;
  uint64_t address_;
  size_t at_ = 0;
  bool ok_ = true;
};

// What a CIE says about its FDEs: how they encode addresses.
struct Encodings {
  uint8_t function = 0, table = kOmitted;
  bool known = true;
};

Encodings encodings_of(const Dwarf_CIE& cie) {
  Encodings found;
  const std::string_view letters(cie.augmentation);
  // Without 'z' the length of the augmentation data is unknown (LSB, Exception Frames).
  if (letters.empty() || letters[0] != 'z') return {0, kOmitted, letters.empty()};
  Reader data({cie.augmentation_data, cie.augmentation_data_size}, 0);
  for (const char letter : letters.substr(1)) {
    if (letter == 'R') found.function = data.fixed<uint8_t>();
    if (letter == 'L') found.table = data.fixed<uint8_t>();
    // The personality routine: skipped, its size is that of its encoding.
    if (letter == 'P') data.number(data.fixed<uint8_t>());
    if (std::string_view("RLPSB").find(letter) == std::string_view::npos) found.known = false;
  }
  found.known = found.known && data.ok();
  return found;
}

// Reads one function's call site table. False: it cannot be read.
bool read_table(const ElfFile& file, uint64_t table, uint64_t function, std::vector<uint64_t>* pads) {
  const ElfSection* section = file.section(".gcc_except_table");
  if (section == nullptr || !section->range().contains(table)) return false;
  Reader in(file.raw(*section).subspan(std::min<uint64_t>(table - section->address, file.raw(*section).size())), table);
  // The language-specific data area (Itanium C++ ABI: Exception Handling Tables): @LPStart, @TType, then the call
  // sites.
  const auto base_encoding = in.fixed<uint8_t>();
  const uint64_t base = base_encoding == kOmitted ? function : in.pointer(base_encoding);
  if (in.fixed<uint8_t>() != kOmitted) in.uleb();  // offset of the end of its type table
  const auto encoding = in.fixed<uint8_t>();
  Reader sites = in.part(in.uleb());
  while (sites.ok() && !sites.at_end()) {
    sites.number(encoding);
    sites.number(encoding);
    if (const uint64_t pad = sites.number(encoding); pad != 0) pads->push_back(base + pad);
    sites.uleb();
  }
  return in.ok() && sites.ok();
}

}  // namespace

std::optional<std::vector<uint64_t>> find_landing_pads(const ElfFile& file) {
  std::vector<uint64_t> pads;
  const ElfSection* frames = file.section(".eh_frame");
  if (file.section(".gcc_except_table") == nullptr) return pads;
  Elf_Data* data = frames != nullptr ? file.data(*frames) : nullptr;
  if (data == nullptr) return std::nullopt;
  const auto* const bytes = static_cast<const uint8_t*>(data->d_buf);
  const auto* ident = reinterpret_cast<const unsigned char*>(file.header().e_ident);
  Encodings encodings;
  Dwarf_Off of_cie = ~Dwarf_Off{0};
  for (Dwarf_Off offset = 0, next = 0;; offset = next) {
    Dwarf_CFI_Entry entry;
    const int result = dwarf_next_cfi(ident, data, true, offset, &next, &entry);
    if (result > 0) break;
    if (result < 0) return std::nullopt;
    if (dwarf_cfi_cie_p(&entry)) continue;
    // Neighbours mostly share a CIE, so the last one is cached.
    if (std::exchange(of_cie, entry.fde.CIE_pointer) != entry.fde.CIE_pointer) {
      Dwarf_CFI_Entry cie;
      Dwarf_Off ignored;
      if (dwarf_next_cfi(ident, data, true, of_cie, &ignored, &cie) != 0 || !dwarf_cfi_cie_p(&cie)) return std::nullopt;
      encodings = encodings_of(cie.cie);
    }
    if (!encodings.known) return std::nullopt;
    if (encodings.table == kOmitted) continue;
    Reader in({entry.fde.start, entry.fde.end}, frames->address + static_cast<uint64_t>(entry.fde.start - bytes));
    const uint64_t function = in.pointer(encodings.function);
    in.number(encodings.function);
    in.uleb();
    const uint64_t table = in.pointer(encodings.table);
    if (!in.ok() || (table != 0 && !read_table(file, table, function, &pads))) return std::nullopt;
  }
  std::sort(pads.begin(), pads.end());
  return pads;
}

}  // namespace penna

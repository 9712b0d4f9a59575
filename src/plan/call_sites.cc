// SPDX-License-Identifier: MIT
// See call_sites.h. Formats: gcc manual, -fpatchable-function-entry; LLVM, compiler-rt/include/xray: XRaySledEntry,
// version 2.
#include "plan/call_sites.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace penna {
namespace {

// Bytes of nops that are searched, before a function and in it; compilers emit more only on request.
constexpr size_t kMaxNops = 64;

template <typename T>
T read(std::span<const uint8_t> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The bytes of nops from the beginning of `code`, as many as are whole and lie within `limit`.
size_t nops(std::span<const uint8_t> code, size_t limit) {
  size_t length = 0;
  while (length < limit) {
    const size_t next = nop_length(code.subspan(length));
    if (next == 0 || length + next > limit) break;
    length += next;
  }
  return length;
}

// The words of a table of addresses: as the file has them, or, in a position-independent file, as its relocations will
// make them.
std::vector<uint64_t> addresses_in(const ElfFile& file, const ElfSection& table) {
  // In position-independent files the addresses are in the addends of relocations; the table itself may hold zeros.
  std::vector<uint64_t> words;
  const std::span<const uint8_t> bytes = file.raw(table);
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) words.push_back(read<uint64_t>(bytes, at));
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_RELA || !section.allocated()) continue;
    Elf_Data* data = file.data(section);
    const size_t count = data == nullptr ? 0 : data->d_size / sizeof(Elf64_Rela);
    for (size_t i = 0; i < count; ++i) {
      GElf_Rela relocation;
      if (gelf_getrela(data, static_cast<int>(i), &relocation) == nullptr) break;
      // For a relocation before the table this wraps to a huge number, and fails the test below.
      const uint64_t offset = relocation.r_offset - table.address;
      if (GELF_R_TYPE(relocation.r_info) == kRelative && offset % 8 == 0 && offset / 8 < words.size())
        words[offset / 8] = static_cast<uint64_t>(relocation.r_addend);
    }
  }
  return words;
}

class Finder {
 public:
  Finder(const ElfFile& file, const std::vector<uint64_t>& functions) : file_(file), functions_(functions) {}

  CallSites find() {
    for (const char* name : {"__patchable_function_entries", "__mcount_loc"})
      if (const ElfSection* table = file_.section(name))
        for (const uint64_t address : addresses_in(file_, *table)) add_nops(address);
    if (const ElfSection* table = file_.section("xray_instr_map")) add_sleds(*table);
    add_unlisted();
    // A function may be in several tables, and in those of -mrecord-mcount and of add_unlisted().
    std::sort(found_.sites.begin(), found_.sites.end(), [](auto& a, auto& b) { return a.place < b.place; });
    const auto same = [](auto& a, auto& b) { return a.place == b.place; };
    found_.sites.erase(std::unique(found_.sites.begin(), found_.sites.end(), same), found_.sites.end());
    return std::move(found_);
  }

 private:
  bool is_code(uint64_t address) const { return range_of(file_.code_ranges(), address) != nullptr; }

  // The start of the function that these nops belong to: at most kMaxNops further on, when some of them lie before it.
  uint64_t function_of(uint64_t nops_at) const {
    // -fpatchable-function-entry=N,M puts M of the N nops before the function, and lists the first nop.
    const auto next = std::lower_bound(functions_.begin(), functions_.end(), nops_at);
    if (next != functions_.end() && *next - nops_at <= kMaxNops &&
        nops(file_.bytes_at(nops_at, *next - nops_at), *next - nops_at) == *next - nops_at)
      return *next;
    // With -fcf-protection, the nops come after the endbr64, and the table lists them instead of the function.
    const bool marked = nops_at >= kEntryMark.size() && is_code(nops_at - kEntryMark.size()) &&
                        begins(file_.bytes_at(nops_at - kEntryMark.size(), kEntryMark.size()), kEntryMark);
    return marked ? nops_at - kEntryMark.size() : nops_at;
  }

  void add_nops(uint64_t listed) {
    if (!is_code(listed)) return;
    const uint64_t function = function_of(listed);
    uint64_t place = function;
    if (begins(file_.bytes_at(place, kEntryMark.size()), kEntryMark)) place += kEntryMark.size();
    const size_t room = nops(file_.bytes_at(place, kMaxNops), kMaxNops);
    if (room < kBranchBytes) {
      ++found_.too_short;
      return;
    }
    add(function, place, CallSiteKind::kNops, kBranchBytes);
  }

  void add(uint64_t function, uint64_t place, CallSiteKind kind, size_t bytes) {
    const std::span<const uint8_t> code = file_.bytes_at(place, bytes);
    if (code.size() < bytes) return;
    CallSite& site = found_.sites.emplace_back(CallSite{function, place, kind, {}});
    std::copy_n(code.begin(), bytes, site.before.begin());
  }

  // Entries of 32 bytes: {i64 sled, i64 function, both relative to their own place; u8 kind, always, version, padding}.
  void add_sleds(const ElfSection& table) {
    constexpr size_t kEntry = 32;
    const std::span<const uint8_t> bytes = file_.raw(table);
    for (size_t at = 0; at + kEntry <= bytes.size(); at += kEntry) {
      // Exit sleds are not used: exits are recorded by return trampolines. Version 1 had absolute addresses.
      constexpr uint8_t kFunctionEntry = 0, kLogArgsEntry = 3, kRelativeVersion = 2;
      const uint8_t kind = bytes[at + 16], version = bytes[at + 18];
      if (version < kRelativeVersion || (kind != kFunctionEntry && kind != kLogArgsEntry)) continue;
      // Each of the two is relative to its own field; nonsense wraps, and is not code.
      const uint64_t here = table.address + at;
      const uint64_t sled = here + read<uint64_t>(bytes, at), function = here + 8 + read<uint64_t>(bytes, at + 8);
      const std::span<const uint8_t> code =
          is_code(sled) ? file_.bytes_at(sled, kSledBytes) : std::span<const uint8_t>();
      if (sled % kSledAlignment == 0 && code.size() >= kSledBytes && begins(code, kSledHead))
        add(function, sled, CallSiteKind::kSled, kSledBytes);
    }
  }

  // -mnop-mcount without -mrecord-mcount lists nothing: but no other function begins with just that nop.
  void add_unlisted() {
    for (const uint64_t function : functions_) {
      if (!is_code(function)) continue;
      const std::span<const uint8_t> code = file_.bytes_at(function, kEntryMark.size() + kBranchBytes);
      const size_t skip = begins(code, kEntryMark) ? kEntryMark.size() : 0;
      if (begins(code.subspan(std::min(skip, code.size())), kHookNop))
        add(function, function + skip, CallSiteKind::kNops, kBranchBytes);
    }
  }

  const ElfFile& file_;
  const std::vector<uint64_t>& functions_;
  CallSites found_;
};

}  // namespace

CallSites find_call_sites(const ElfFile& file, const std::vector<uint64_t>& functions) {
  if (file.header().e_machine != kMachine) return {};
  return Finder(file, functions).find();
}

}  // namespace penna

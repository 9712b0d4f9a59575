// SPDX-License-Identifier: MIT
// See point_sites.h. The layout is that of penna/point_abi.h; offsets count from the field that holds them.
#include "cli/point_sites.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "penna/point_abi.h"

namespace penna {
namespace {

constexpr size_t kMaxSites = 1 << 20;

// The bytes at an ELF address, as many as are there; empty when the file has none for it.
std::span<const uint8_t> bytes_at(const ElfFile& file, uint64_t address) {
  for (const ElfSection& section : file.sections()) {
    if (!section.allocated() || !section.range().contains(address)) continue;
    const std::span<const uint8_t> raw = file.raw(section);
    const uint64_t offset = address - section.address;
    if (offset < raw.size()) return raw.subspan(offset);
  }
  return {};
}

// The next string of `text`, which is shortened by it; nothing when no zero ends it.
std::optional<std::string> next_string(std::span<const uint8_t>& text) {
  const auto end = std::find(text.begin(), text.end(), uint8_t{0});
  if (end == text.end()) return std::nullopt;
  std::string string(text.begin(), end);
  text = text.subspan(string.size() + 1);
  return string;
}

std::optional<Site> read_site(const ElfFile& file, const penna_point_site& raw, uint64_t address) {
  if (raw.arg_count > PENNA_MAX_ARGS) return std::nullopt;
  std::span<const uint8_t> text =
      bytes_at(file, address + offsetof(penna_point_site, text_at) + static_cast<uint64_t>(int64_t{raw.text_at}));
  text = text.first(std::min<size_t>(text.size(), raw.text_bytes));
  const auto provider = next_string(text), name = next_string(text), source = next_string(text);
  if (!provider || !name || !source) return std::nullopt;
  Site site;
  site.line = raw.line;
  site.address = address + offsetof(penna_point_site, slot_at) + static_cast<uint64_t>(int64_t{raw.slot_at});
  site.provider = *provider;
  site.name = *name;
  site.file = *source;
  for (uint32_t i = 0; i < raw.arg_count; ++i)
    site.arguments.push_back({static_cast<uint8_t>(raw.types >> (4 * i) & 15), next_string(text).value_or("")});
  return site;
}

}  // namespace

std::vector<Site> read_point_sites(const ElfFile& file) {
  std::vector<Site> sites;
  const ElfSection* section = file.section("penna_sites");
  if (section == nullptr || file.header().e_ident[EI_DATA] != ELFDATA2LSB) return sites;
  ByteCursor in(file.raw(*section));
  while (in.remaining() >= sizeof(penna_point_site) && sites.size() < kMaxSites) {
    const uint64_t address = section->address + in.position();
    if (auto site = read_site(file, in.get<penna_point_site>(), address)) sites.push_back(std::move(*site));
  }
  return sites;
}

}  // namespace penna

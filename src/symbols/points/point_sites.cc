// SPDX-License-Identifier: MIT
// See point_sites.h. The layout is that of penna/point_abi.h; offsets count from the field that contains them.
#include "symbols/points/point_sites.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "penna/detail/site_text.h"

namespace penna {
namespace {

// The file is untrusted, and so is every distance in it.
constexpr size_t kMaxSites = 1 << 20;
constexpr size_t kMaxLayout = 64 << 10;  // bytes of names

// What the field at `field` of the record at `address` points to, at most `most` bytes; fewer at the section's end,
// none outside of the file.
std::span<const uint8_t> target(const ElfFile& file, uint64_t address, size_t field, int32_t distance, size_t most) {
  return file.bytes_at(address + field + static_cast<uint64_t>(int64_t{distance}), most);
}

std::string string_of(penna_piece piece) { return {piece.at, piece.bytes}; }

// Nothing: the record points outside of the file, or names nothing.
std::optional<Site> read_site(const ElfFile& file, const penna_point_site& raw, uint64_t address) {
  if (raw.arg_count > PENNA_MAX_ARGS) return std::nullopt;
  std::span<const uint8_t> text =
      target(file, address, offsetof(penna_point_site, text_at), raw.text_at, raw.text_bytes);
  if (text.size() < raw.text_bytes) return std::nullopt;
  std::span<const uint8_t> layout;
  if ((raw.types & PENNA_TYPES_HAVE_LAYOUT) != 0)
    layout = target(file, address, offsetof(penna_point_site, layout_at), raw.layout_at, kMaxLayout);
  const auto* layout_at = reinterpret_cast<const char*>(layout.data());
  penna_site_text in = penna_read_site_text(reinterpret_cast<const char*>(text.data()), raw.text_bytes, layout_at,
                                            layout_at + layout.size());
  Site site;
  site.line = raw.line;
  site.kind = raw.kind;
  site.address = address + offsetof(penna_point_site, slot_at) + static_cast<uint64_t>(int64_t{raw.slot_at});
  site.provider = string_of(penna_next_text(&in));
  site.name = string_of(penna_next_text(&in));
  site.file = string_of(penna_next_text(&in));
  if (site.provider.empty() || site.name.empty()) return std::nullopt;
  // Four bits per type (penna/point_abi.h). The name of a struct's field follows a dot.
  for (uint32_t i = 0; i < raw.arg_count; ++i) {
    penna_piece field;
    std::string name = string_of(penna_next_value(&in, &field));
    if (field.bytes != 0) name += '.' + string_of(field);
    site.arguments.push_back({static_cast<uint8_t>(raw.types >> (4 * i) & 15), std::move(name)});
  }
  return site;
}

// The version of the site records, from their note; 0 if it has none.
uint32_t abi_version(const ElfFile& file) {
  const ElfSection* section = file.section(".note.penna");
  Elf_Data* data = section == nullptr ? nullptr : file.data(*section);
  GElf_Nhdr note;
  size_t name = 0, desc = 0;
  for (size_t at = 0; data != nullptr && (at = ::gelf_getnote(data, at, &note, &name, &desc)) > 0;) {
    if (note.n_type != PENNA_NOTE_MODULE || note.n_descsz < sizeof(penna_point_module)) continue;
    penna_point_module module;
    std::memcpy(&module, static_cast<const uint8_t*>(data->d_buf) + desc, sizeof module);
    return module.version;
  }
  return 0;
}

}  // namespace

// Records of another version are skipped entirely: reading them as this one would make up points.
std::vector<Site> read_point_sites(const ElfFile& file) {
  std::vector<Site> sites;
  const ElfSection* section = file.section("penna_sites");
  if (section == nullptr || file.header().e_ident[EI_DATA] != ELFDATA2LSB) return sites;
  if (abi_version(file) != PENNA_POINT_ABI_VERSION) return sites;
  ByteCursor in(file.raw(*section));
  while (in.remaining() >= sizeof(penna_point_site) && sites.size() < kMaxSites) {
    const uint64_t address = section->address + in.position();
    auto site = read_site(file, in.get<penna_point_site>(), address);
    // A span is listed as one point.
    if (site && site->kind != PENNA_SITE_SPAN_END) sites.push_back(std::move(*site));
  }
  return sites;
}

}  // namespace penna

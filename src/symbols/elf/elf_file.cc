// SPDX-License-Identifier: MIT
// See elf_file.h.
#include "symbols/elf/elf_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/hex_text.h"
#include "symbols/elf/debug_files.h"
#include "symbols/elf/elf_begin.h"

namespace penna {
namespace {

Error libelf_error(const std::string& path, const char* what) {
  int code = elf_errno();
  return Error{fmt::format("{} {}: {}", path, what, code != 0 ? elf_errmsg(code) : "its headers make no sense")};
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path, Kind kind) {
  // O_NONBLOCK: a recorded path may be a fifo by now, and opening it must not wait for a writer.
  Fd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!opened) return Error{fmt::format("cannot open {}: {}", path, errno_text(errno))};
  return read(std::move(opened), path, kind);
}

Result<ElfFile> ElfFile::read(Fd opened, const std::string& path, Kind kind) {
  ElfFile file;
  file.path_ = path;
  file.fd_ = std::move(opened);
  struct stat status {};
  if (::fstat(file.fd_.get(), &status) != 0) return Error{fmt::format("cannot stat {}: {}", path, errno_text(errno))};
  if (!S_ISREG(status.st_mode)) return Error{fmt::format("{} is not a regular file", path)};
  file.version_ = FileVersion::of(file.fd_.get());
  file.copy_ = std::make_unique<FileCopy>(file.fd_.get(), file.version_);
  ::elf_version(EV_CURRENT);
  file.elf_.reset(begin_elf(file.fd_.get()));
  const Result<> read = file.read_headers(kind);
  PENNA_TRY(file.unchanged());
  if (!read) return read.error();
  return file;
}

Result<ElfFile> ElfFile::from_memory(std::string name, std::vector<uint8_t> bytes) {
  ElfFile file;
  file.path_ = std::move(name);
  file.bytes_ = std::move(bytes);
  ::elf_version(EV_CURRENT);
  if (!file.bytes_.empty()) {
    file.elf_.reset(::elf_memory(reinterpret_cast<char*>(file.bytes_.data()), file.bytes_.size()));
  }
  PENNA_TRY(file.read_headers(Kind::kModule));
  return file;
}

Result<> ElfFile::read_headers(Kind kind) {
  if (elf_ == nullptr || ::elf_kind(elf_.get()) != ELF_K_ELF) return Error{fmt::format("{} is not an ELF file", path_)};
  if (::gelf_getehdr(elf_.get(), &header_) == nullptr) return libelf_error(path_, "is damaged");
  if (kind == Kind::kModule && header_.e_type != ET_EXEC && header_.e_type != ET_DYN) {
    return Error{fmt::format("{} is neither a program nor a shared library (ELF type {})", path_, header_.e_type)};
  }
  size_t segment_count = 0;
  if (::elf_getphdrnum(elf_.get(), &segment_count) != 0) return libelf_error(path_, "has damaged program headers");
  // The kernel accepts at most 64 KiB of them.
  segment_count = std::min<size_t>(segment_count, 65536 / sizeof(Elf32_Phdr));
  for (size_t i = 0; i < segment_count; ++i) {
    GElf_Phdr segment;
    if (::gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) == nullptr) break;
    segments_.push_back(segment);
    uint64_t end = segment.p_vaddr + segment.p_memsz;
    if (segment.p_type == PT_LOAD && end > segment.p_vaddr) load_.push_back({segment.p_vaddr, end});
  }
  read_sections();
  if (code_.empty()) {
    for (const GElf_Phdr& segment : segments_) {
      uint64_t end = segment.p_vaddr + segment.p_memsz;
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && end > segment.p_vaddr) {
        code_.push_back({segment.p_vaddr, end});
      }
    }
  }
  auto by_begin = [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; };
  std::sort(code_.begin(), code_.end(), by_begin);
  std::sort(load_.begin(), load_.end(), by_begin);
  read_build_id();
  return ok();
}

// A table larger than memory because most of it is a hole in the file: no linker writes that, and reading it would take
// forever.
bool ElfFile::is_hollow(uint64_t offset, uint64_t size) const {
  constexpr uint64_t kNeverAsked = 64 << 20;
  if (!fd_ || size <= kNeverAsked) return false;
  uint64_t there = 0;
  const uint64_t end = offset + size < offset ? UINT64_MAX : std::min(offset + size, version_.size());
  for (uint64_t at = offset; at < end;) {
    const off_t data = ::lseek(fd_.get(), static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno != ENXIO) return false;  // a file system without support for holes
    if (data < 0 || static_cast<uint64_t>(data) >= end) break;
    const off_t hole = ::lseek(fd_.get(), data, SEEK_HOLE);
    at = hole < 0 ? end : std::min(static_cast<uint64_t>(hole), end);
    there += at - static_cast<uint64_t>(data);
  }
  return there < size / 2;
}

void ElfFile::read_sections() {
  size_t names = 0;
  bool named = ::elf_getshdrstrndx(elf_.get(), &names) == 0;
  GElf_Shdr header;
  if (Elf_Scn* scn = named ? ::elf_getscn(elf_.get(), names) : nullptr; ::gelf_getshdr(scn, &header) != nullptr)
    named = !is_hollow(header.sh_offset, header.sh_size);
  for (Elf_Scn* scn = nullptr; (scn = ::elf_nextscn(elf_.get(), scn)) != nullptr;) {
    if (::gelf_getshdr(scn, &header) == nullptr) continue;
    const char* name = named ? ::elf_strptr(elf_.get(), names, header.sh_name) : nullptr;
    sections_.push_back({name != nullptr ? name : "", ::elf_ndxscn(scn), header.sh_type, header.sh_flags,
                         header.sh_addr, header.sh_offset, header.sh_size, header.sh_link, header.sh_entsize});
    ElfSection& section = sections_.back();
    if (section.allocated() && section.executable() && section.range().end != 0) code_.push_back(section.range());
    if (section.type != SHT_NOBITS && is_hollow(section.offset, section.size)) {
      hollow_ = true;
      section.type = SHT_NOBITS;
    }
  }
}

bool ElfFile::take_build_id(Elf_Data* notes) {
  if (notes == nullptr) return false;
  GElf_Nhdr note;
  size_t name = 0, desc = 0;
  for (size_t at = 0; (at = ::gelf_getnote(notes, at, &note, &name, &desc)) > 0;) {
    const auto* bytes = static_cast<const uint8_t*>(notes->d_buf);
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(bytes + name, "GNU", 4) != 0) continue;
    if (note.n_descsz == 0 || note.n_descsz > 64) return false;
    build_id_.assign(bytes + desc, bytes + desc + note.n_descsz);
    return true;
  }
  return false;
}

// Sections first: in separate debug files the program headers point to bytes that are no longer there.
void ElfFile::read_build_id() {
  for (const ElfSection& section : sections_) {
    if (section.type == SHT_NOTE && take_build_id(data(section))) return;
  }
  for (const GElf_Phdr& segment : segments_) {
    if (segment.p_type != PT_NOTE) continue;
    // Notes are padded to 4 bytes; in segments aligned to 8, such as those of .note.gnu.property, to 8.
    Elf_Type type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
    Elf_Data* notes =
        ::elf_getdata_rawchunk(elf_.get(), static_cast<int64_t>(segment.p_offset), segment.p_filesz, type);
    if (take_build_id(notes)) return;
  }
}

const ElfSection* ElfFile::section(std::string_view name) const {
  auto found = std::find_if(sections_.begin(), sections_.end(), [&](const ElfSection& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

const ElfSection* ElfFile::section_of_type(uint32_t type) const {
  auto found = std::find_if(sections_.begin(), sections_.end(), [&](const ElfSection& s) { return s.type == type; });
  return found == sections_.end() ? nullptr : &*found;
}

bool ElfFile::has_contents(std::string_view name) const {
  const ElfSection* found = section(name);
  return found != nullptr && found->type != SHT_NOBITS && found->size != 0;
}

Elf_Data* ElfFile::data(const ElfSection& section) const {
  if (section.type == SHT_NOBITS) return nullptr;
  Elf_Data* data = ::elf_getdata(::elf_getscn(elf_.get(), section.index), nullptr);
  if (data == nullptr || data->d_buf == nullptr) return nullptr;
  // Load its strings now, from the same version of the file.
  for (const ElfSection& strings : sections_) {
    if (strings.index != section.link || strings.index == 0) continue;
    if (strings.type == SHT_STRTAB) (void)::elf_strptr(elf_.get(), strings.index, 0);
    if (strings.type == SHT_NOBITS && hollow_) return nullptr;
  }
  return unchanged() ? data : nullptr;
}

std::span<const uint8_t> ElfFile::bytes_in_file(uint64_t offset, uint64_t count) const {
  if (copy_) return is_hollow(offset, count) ? std::span<const uint8_t>() : copy_->bytes(offset, count);
  if (offset >= bytes_.size()) return {};
  return {bytes_.data() + offset, std::min<uint64_t>(count, bytes_.size() - offset)};
}

std::span<const uint8_t> ElfFile::raw(const ElfSection& section) const {
  if (section.type == SHT_NOBITS) return {};
  const auto bytes = bytes_in_file(section.offset, section.size);
  return bytes.size() == section.size ? bytes : std::span<const uint8_t>();
}

std::span<const uint8_t> ElfFile::bytes_at(uint64_t address, uint64_t most) const {
  for (const GElf_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t within = address - segment.p_vaddr;
    // After p_filesz comes zeroed memory, which is not in the file.
    if (within >= segment.p_filesz || segment.p_offset + within < within) continue;
    const auto bytes = bytes_in_file(segment.p_offset + within, std::min(segment.p_filesz - within, most));
    if (!bytes.empty()) return bytes;
  }
  return {};
}

std::optional<uint32_t> ElfFile::crc() const {
  uint32_t crc = 0;
  std::vector<uint8_t> some(1 << 18);
  for (uint64_t at = 0; at < version_.size(); at += some.size()) {
    some.resize(std::min<uint64_t>(some.size(), version_.size() - at));
    if (!read_at(fd_.get(), at, some)) return {};
    crc = debuglink_crc(some, crc);
  }
  return unchanged() ? std::optional(crc) : std::nullopt;
}

Result<> ElfFile::unchanged() const {
  if (copy_ && copy_->has_changed()) return changed_while_read(path_);
  return ok();
}

const AddressRange* range_of(const std::vector<AddressRange>& ranges, uint64_t address) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](uint64_t a, const AddressRange& range) { return a < range.begin; });
  if (after == ranges.begin()) return nullptr;
  --after;
  return after->contains(address) ? &*after : nullptr;
}

std::string build_id_text(std::span<const uint8_t> build_id) { return hex_text(build_id); }

}  // namespace penna

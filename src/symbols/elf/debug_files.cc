// SPDX-License-Identifier: MIT
// See debug_files.h.
#include "symbols/elf/debug_files.h"

#include <cstring>

namespace penna {
namespace {

struct DebugLink {
  std::string name;
  uint32_t crc = 0;
};

// .gnu_debuglink: a file name, its terminating zero, padding to 4 bytes, the CRC of the file.
std::optional<DebugLink> read_debuglink(const ElfFile& file) {
  const ElfSection* section = file.section(".gnu_debuglink");
  if (section == nullptr) return {};
  auto bytes = file.raw(*section);
  const void* end = bytes.empty() ? nullptr : std::memchr(bytes.data(), 0, bytes.size());
  if (end == nullptr) return {};
  size_t length = static_cast<size_t>(static_cast<const uint8_t*>(end) - bytes.data());
  size_t crc_at = (length + 4) & ~size_t{3};
  if (length == 0 || crc_at + 4 > bytes.size()) return {};
  DebugLink link;
  link.name.assign(reinterpret_cast<const char*>(bytes.data()), length);
  // The name is untrusted and must be a plain file name.
  if (link.name.find('/') != std::string::npos) return {};
  std::memcpy(&link.crc, bytes.data() + crc_at, 4);
  if (file.header().e_ident[EI_DATA] == ELFDATA2MSB) link.crc = __builtin_bswap32(link.crc);
  return link;
}

// .gnu_debugaltlink: a path, its terminating zero, the build ID of the dwz file.
struct AltLink {
  std::string path;
  BuildId build_id;
};

std::optional<AltLink> read_altlink(const ElfFile& file) {
  const ElfSection* section = file.section(".gnu_debugaltlink");
  if (section == nullptr) return {};
  auto bytes = file.raw(*section);
  const void* end = bytes.empty() ? nullptr : std::memchr(bytes.data(), 0, bytes.size());
  if (end == nullptr) return {};
  size_t length = static_cast<size_t>(static_cast<const uint8_t*>(end) - bytes.data());
  AltLink link;
  link.path.assign(reinterpret_cast<const char*>(bytes.data()), length);
  auto id = bytes.subspan(length + 1);
  link.build_id.assign(id.begin(), id.end());
  if (link.path.empty() || link.build_id.empty() || link.build_id.size() > 64) return {};
  return link;
}

std::vector<std::string> debug_roots(const DebugSearch& search) {
  std::vector<std::string> roots = search.debug_dirs;
  roots.push_back(search.symfs + "/usr/lib/debug");
  return roots;
}

std::string directory_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "" : path.substr(0, slash);
}

std::optional<ElfFile> open_with_id(const std::string& path, const BuildId& build_id) {
  auto file = ElfFile::open(path, ElfFile::Kind::kAny);  // the build ID is proof enough
  if (!file || file->build_id() != build_id) return {};
  return std::move(*file);
}

std::optional<ElfFile> find_by_build_id(const BuildId& build_id, const DebugSearch& search) {
  if (build_id.size() < 2) return {};
  std::string hex = build_id_text(build_id);
  std::string name = hex.substr(0, 2) + "/" + hex.substr(2) + ".debug";
  for (const std::string& root : debug_roots(search)) {
    // Like gdb: below DIR/.build-id; and directly below DIR, in case that is such a directory itself.
    if (auto file = open_with_id(root + "/.build-id/" + name, build_id)) return file;
    if (auto file = open_with_id(root + "/" + name, build_id)) return file;
  }
  return {};
}

std::optional<ElfFile> open_with_crc(const std::string& path, const DebugLink& link, const ElfFile& opened) {
  if (path == opened.path()) return {};  // a link to itself
  auto file = ElfFile::open(path);
  if (!file) return {};
  // A build ID is the better proof; the CRC costs reading the whole file.
  if (!opened.build_id().empty() && !file->build_id().empty()) {
    if (opened.build_id() != file->build_id()) return {};
    return std::move(*file);
  }
  if (file->crc() != link.crc) return {};
  return std::move(*file);
}

std::optional<ElfFile> find_by_debuglink(const std::string& path, const ElfFile& opened, const DebugSearch& search) {
  auto link = read_debuglink(opened);
  if (!link) return {};
  std::string beside = directory_of(opened.path());
  // In gdb's order: next to the file, .debug/, then the global directories.
  if (auto file = open_with_crc(beside + "/" + link->name, *link, opened)) return file;
  if (auto file = open_with_crc(beside + "/.debug/" + link->name, *link, opened)) return file;
  for (const std::string& root : debug_roots(search)) {
    if (auto file = open_with_crc(root + directory_of(path) + "/" + link->name, *link, opened)) return file;
    if (auto file = open_with_crc(root + "/" + link->name, *link, opened)) return file;
  }
  return {};
}

}  // namespace

std::optional<ElfFile> find_debug_file(const std::string& path, const BuildId& build_id, const ElfFile* opened,
                                       const DebugSearch& search) {
  if (auto file = find_by_build_id(build_id, search)) return file;
  if (opened != nullptr) {
    if (auto file = find_by_debuglink(path, *opened, search)) return file;
  }
  return debuginfod_fetch(path, build_id, search);
}

std::optional<ElfFile> find_alt_file(const ElfFile& file, const DebugSearch& search, std::string* missing) {
  auto link = read_altlink(file);
  if (!link) return {};
  if (auto found = find_by_build_id(link->build_id, search)) return found;
  constexpr std::string_view kDebugRoot = "/usr/lib/debug/";
  // dwz writes /usr/lib/debug/.dwz/… or, for relocatable files, a path relative to the file.
  if (link->path[0] == '/') {
    if (link->path.compare(0, kDebugRoot.size(), kDebugRoot) == 0) {
      for (const std::string& root : debug_roots(search)) {
        if (auto found = open_with_id(root + "/" + link->path.substr(kDebugRoot.size()), link->build_id)) return found;
      }
    }
    if (auto found = open_with_id(search.symfs + link->path, link->build_id)) return found;
  } else if (auto found = open_with_id(directory_of(file.path()) + "/" + link->path, link->build_id)) {
    return found;
  }
  if (auto fetched = debuginfod_fetch(link->path, link->build_id, search)) return fetched;
  *missing = link->path;
  return {};
}

}  // namespace penna

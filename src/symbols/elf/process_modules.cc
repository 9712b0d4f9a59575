// SPDX-License-Identifier: MIT
// See process_modules.h. https://www.kernel.org/doc/html/latest/filesystems/proc.html
#include "symbols/elf/process_modules.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/in_proc.h"

namespace penna {
namespace {

constexpr size_t kMaxMaps = size_t{64} << 20;
constexpr uint64_t kPage = 4096;  // segments may have larger alignment

// Reads a number in `base` from the start of `text`, and removes it and the `after` that follows.
bool take_number(std::string_view& text, int base, char after, uint64_t* to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *to, base);
  if (error != std::errc() || end == text.data() + text.size() || *end != after) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

std::string unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    // The only character that the kernel escapes in maps; a backslash stands for itself.
    const bool line_end = text.substr(0, 4) == "\\012";
    result += line_end ? '\n' : text[0];
    text.remove_prefix(line_end ? 4 : 1);
  }
  return result;
}

// The mapped file: by its path, if that is still the same file, or by the link that the kernel keeps, which requires
// privileges.
Result<ElfFile> open_mapped(uint32_t pid, const MappedFile& map) {
  const std::string by_path = in_proc(pid, "root" + map.path);
  struct stat status {};
  const bool there = ::stat(by_path.c_str(), &status) == 0;
  // The device is not compared: btrfs and overlayfs report a different one here than in the maps.
  if (there && status.st_ino == map.inode) return ElfFile::open(by_path);
  const std::string link = fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, map.start, map.end);
  if (::access(link.c_str(), R_OK) == 0) return ElfFile::open(link);
  // Root meets this only where the first thread has ended: then the kernel keeps no links.
  return Error{fmt::format("the file {} that the process has mapped {}{}", map.path, there ? "was replaced" : "is gone",
                           ::geteuid() == 0 ? "" : ": run as root to read it still")};
}

// Run-time address - address in the file, for the segment that contains the mapping's offset.
std::optional<uint64_t> bias_of(const ElfFile& file, const MappedFile& map) {
  for (const GElf_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    // The kernel maps whole pages: a mapping begins before its segment.
    const uint64_t within = segment.p_offset % kPage;
    if (map.offset + kPage <= segment.p_offset - within || map.offset >= segment.p_offset + segment.p_filesz) continue;
    // Also for part of a segment, which mprotect has split off.
    return map.start - (segment.p_vaddr - segment.p_offset + map.offset);
  }
  return std::nullopt;
}

}  // namespace

bool parse_maps_line(std::string_view line, MappedFile* to) {
  uint64_t major = 0, minor = 0;
  if (!take_number(line, 16, '-', &to->start) || !take_number(line, 16, ' ', &to->end) || line.size() < 5) return false;
  to->executable = line[2] == 'x';
  line.remove_prefix(5);
  if (!take_number(line, 16, ' ', &to->offset) || !take_number(line, 16, ':', &major) ||
      !take_number(line, 16, ' ', &minor) || !take_number(line, 10, ' ', &to->inode))
    return false;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  constexpr std::string_view kDeleted = " (deleted)";
  if (line.size() > kDeleted.size() && line.substr(line.size() - kDeleted.size()) == kDeleted)
    line.remove_suffix(kDeleted.size());
  to->path = unescaped(line);
  return to->inode != 0 && to->end > to->start && !to->path.empty() && to->path[0] == '/';
}

Result<ProcessModules> read_process_modules(uint32_t pid) {
  const std::string directory = fmt::format("/proc/{}", pid);
  if (::access(directory.c_str(), F_OK) != 0) return Error{fmt::format("there is no process {}", pid)};
  const Result<std::string> maps = read_file(in_proc(pid, "maps"), kMaxMaps);
  if (!maps) return Error{fmt::format("cannot read the maps of process {}: run as its user or as root", pid)};
  ProcessModules result;
  if (const auto name = read_file(directory + "/comm", 64)) result.name = name->substr(0, name->find('\n'));

  std::set<std::pair<std::string, uint64_t>> seen;    // path and bias
  std::set<std::pair<std::string, uint64_t>> failed;  // path and inode
  std::string_view rest = *maps;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    MappedFile map;
    const bool wanted = parse_maps_line(rest.substr(0, end), &map) && map.executable;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!wanted || failed.count({map.path, map.inode}) != 0) continue;
    Result<ElfFile> file = open_mapped(pid, map);
    if (!file) {
      failed.insert({map.path, map.inode});
      result.missing.push_back(file.error().text);
      continue;
    }
    const std::optional<uint64_t> bias = bias_of(*file, map);
    // A segment may be mapped in pieces; a file loaded twice (dlmopen) has two biases.
    if (bias && seen.insert({map.path, *bias}).second) result.modules.push_back({map.path, std::move(*file), *bias});
  }
  if (result.modules.empty() && result.missing.empty())
    return Error{fmt::format("process {} has no program mapped: it is a kernel thread, or has ended", pid)};
  return result;
}

ProcessMemory::ProcessMemory(uint32_t pid) : file_(::open(in_proc(pid, "mem").c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_)
    refusal_ =
        fmt::format("whether sites are armed is unknown: the memory of process {} may not be read ({}); run as root",
                    pid, errno_text(errno));
}

bool ProcessMemory::read(RemotePtr<const uint8_t> address, std::span<uint8_t> to) const {
  return file_ && ::pread(file_.get(), to.data(), to.size(), static_cast<off_t>(address.number())) ==
                      static_cast<ssize_t>(to.size());
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See remote_memory.h.
#include "reach/process/remote_memory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/in_proc.h"

namespace penna {
namespace {

constexpr size_t kPage = 4096;

}  // namespace

Result<RemoteMemory> RemoteMemory::open(pid_t pid) {
  Fd file(::open(in_proc(pid, "mem").c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return Error{fmt::format("cannot open the memory of process {}: {}", pid, errno_text(errno))};
  return RemoteMemory(std::move(file));
}

// How much of it there is.
size_t RemoteMemory::copy_piece(uint64_t at, void* to, size_t most) const {
  for (const Piece& piece : pieces_) {
    const uint64_t offset = at - piece.at.number();
    if (offset >= piece.bytes.size()) continue;
    const size_t bytes = std::min<size_t>(most, piece.bytes.size() - offset);
    std::memcpy(to, piece.bytes.data() + offset, bytes);
    return bytes;
  }
  return 0;
}

bool RemoteMemory::read_bytes(uint64_t at, void* to, size_t bytes) const {
  if (!pieces_.empty()) return copy_piece(at, to, bytes) == bytes;
  return ::pread(file_.get(), to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

bool RemoteMemory::write_bytes(uint64_t at, const void* from, size_t bytes) const {
  return ::pwrite(file_.get(), from, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

std::string RemoteMemory::part(RemotePtr<const uint8_t> at, size_t most) const {
  std::string bytes(most, '\0');
  size_t had = pieces_.empty() ? 0 : copy_piece(at.number(), bytes.data(), most);
  while (pieces_.empty() && had < most) {
    const auto rest = static_cast<off_t>((at + had).number());
    const ssize_t got = ::pread(file_.get(), bytes.data() + had, most - had, rest);
    if (got <= 0) break;
    had += static_cast<size_t>(got);
  }
  bytes.resize(had);
  return bytes;
}

std::string RemoteMemory::text(RemotePtr<const char> at) const {
  std::string text;
  while (text.size() < kPage) {
    const auto rest = (at + text.size()).as<const uint8_t>();
    const std::string more = part(rest, kPage - rest.number() % kPage);
    const size_t end = more.find('\0');
    text += more.substr(0, end);
    if (end != more.npos || more.empty()) break;
  }
  return text;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See agent_file.h.
#include "reach/inject/agent_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/file_copy.h"

namespace penna {
namespace {

template <typename Object>
std::span<uint8_t> bytes_of(Object& object) {
  return {reinterpret_cast<uint8_t*>(&object), sizeof object};
}

}  // namespace

Result<AgentFile> AgentFile::open(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0)
    return Error{fmt::format("cannot read {}: {}; reinstall Penna", path, errno_text(errno))};
  const Error damaged{fmt::format("{} is truncated: reinstall Penna", path)};
  Elf64_Ehdr header{};
  if (!read_at(file.get(), 0, bytes_of(header)) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return damaged;
  size_t bytes = sizeof header;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file.get(), header.e_phoff + i * sizeof segment, bytes_of(segment))) return damaged;
    if (segment.p_type == PT_LOAD) bytes = std::max<size_t>(bytes, segment.p_offset + segment.p_filesz);
  }
  if (bytes > static_cast<uint64_t>(status.st_size)) return damaged;
  header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
  return AgentFile(std::move(file), header, bytes);
}

// In the kernel: the agent is some megabytes, and a process waits for it.
bool AgentFile::copy_to(const Fd& file) const {
  off_t at = 0;
  while (static_cast<size_t>(at) < bytes_) {
    const ssize_t got = ::sendfile(file.get(), file_.get(), &at, bytes_ - static_cast<size_t>(at));
    if (got == 0) errno = EIO;  // it was truncated
    if (got <= 0 && errno != EINTR) return false;
  }
  return ::pwrite(file.get(), &header_, sizeof header_, 0) == sizeof header_;
}

}  // namespace penna

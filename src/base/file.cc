// SPDX-License-Identifier: MIT
// See file.h.
#include "base/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace penna {

std::string errno_text(int error) { return std::generic_category().message(error); }

Result<Mapping> map_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return Error{fmt::format("cannot open {}: {}", path, errno_text(errno))};
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error{fmt::format("cannot stat {}: {}", path, errno_text(errno))};
  if (!S_ISREG(status.st_mode)) return Error{fmt::format("{} is not a regular file", path)};
  if (status.st_size == 0) return Mapping{};
  auto size = static_cast<size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return Error{fmt::format("cannot map {}: {}", path, errno_text(errno))};
  return Mapping(data, size);
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return Error{fmt::format("cannot open {}: {}", path, errno_text(errno))};
  std::string text;
  char buffer[4096];
  while (text.size() < limit) {
    ssize_t got = ::read(fd.get(), buffer, std::min(sizeof buffer, limit - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{fmt::format("cannot read {}: {}", path, errno_text(errno))};
    if (got == 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See file.h.
#include "base/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/file_copy.h"
#include "base/readable.h"

namespace penna {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {  // our standard output was made non-blocking
      pollfd ready{fd, POLLOUT, 0};
      (void)::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::string errno_text(int error) { return std::generic_category().message(error); }

Result<Mapping> load_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return Error{fmt::format("cannot open {}: {}", path, errno_text(errno))};
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error{fmt::format("cannot stat {}: {}", path, errno_text(errno))};
  if (!S_ISREG(status.st_mode)) return Error{fmt::format("{} is not a regular file", path)};
  const FileVersion version = FileVersion::of(fd.get());
  if (version.size() == 0) return Mapping{};
  // Accounted memory: a file larger than memory is refused here.
  void* data = ::mmap(nullptr, version.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return Error{fmt::format("cannot load {}: {}", path, errno_text(errno))};
  Mapping copy(data, version.size());
  const bool whole = read_at(fd.get(), 0, {copy.data(), copy.size()});
  const int error = errno;
  // Appending meanwhile does not affect what was read.
  const bool has_grown = whole && ::fstat(fd.get(), &status) == 0 && static_cast<size_t>(status.st_size) > copy.size();
  if (!has_grown && !version.is_current(fd.get())) return changed_while_read(path);
  if (!whole) return Error{fmt::format("cannot read {}: {}", path, errno_text(error))};
  return copy;
}

Error changed_while_read(const std::string& path) {
  return Error{fmt::format("{} changed while it was read: try again once it is complete", path)};
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return Error{fmt::format("cannot open {}: {}", path, errno_text(errno))};
  std::string text;
  char buffer[4096];
  while (text.size() < limit) {
    ssize_t got = ::read(fd.get(), buffer, std::min(sizeof buffer, limit - text.size()));
    if (got < 0 && errno == EAGAIN) (void)is_readable(fd.get(), -1);  // a pipe, whose writer takes its time
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return Error{fmt::format("cannot read {}: {}", path, errno_text(errno))};
    if (got == 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

}  // namespace penna

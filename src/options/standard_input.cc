// SPDX-License-Identifier: MIT
// See standard_input.h.
#include "options/standard_input.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "base/file.h"

namespace penna {
namespace {

Error cannot_keep() { return Error{fmt::format("cannot keep standard input in memory: {}", errno_text(errno))}; }

Result<Fd> copy_of_standard_input() {
  if (::isatty(STDIN_FILENO) != 0)
    return Error{"- is standard input, and that is a terminal: redirect a file to it, or name one"};
  Fd copy(::memfd_create("penna-standard-input", MFD_CLOEXEC));
  if (!copy) return cannot_keep();
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{fmt::format("cannot read standard input: {}", errno_text(errno))};
    if (got == 0) return copy;
    if (!write_all(copy, {buffer, static_cast<size_t>(got)})) return cannot_keep();
  }
}

}  // namespace

Result<std::string> readable_path(const std::string& path) {
  static Fd copy;
  if (path != "-") return path;
  if (!copy) copy = PENNA_TRY(copy_of_standard_input());
  return fmt::format("/proc/self/fd/{}", copy.get());
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See in_proc.h. References: proc(5), pthread_exit(3).
#include "base/in_proc.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include "base/directory.h"

namespace penna {
namespace {

// A kernel thread has none either, nor has a process that has ended.
bool has_no_program(const std::string& directory) {
  char first;
  return ::readlink((directory + "exe").c_str(), &first, sizeof first) < 0 && errno == ENOENT;
}

}  // namespace

std::string in_proc(pid_t pid, std::string_view file) {
  std::string first = fmt::format("/proc/{}/", pid);
  if (!has_no_program(first)) return first.append(file);
  for (const pid_t thread : numbers_in(first + "task"))
    if (std::string other = fmt::format("{}task/{}/", first, thread); !has_no_program(other)) return other.append(file);
  return first.append(file);
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See mapped_memory.h.
#include "base/mapped_memory.h"

#include <fmt/core.h>

#include <string>

#include "base/file.h"

namespace penna {

bool has_mapped(uint32_t pid, const char* name, ino_t inode) {
  const auto maps = read_file(fmt::format("/proc/{}/maps", pid), 64 << 20);
  const std::string file = fmt::format("/memfd:{}", name), number = fmt::format(" {} ", inode);
  for (size_t at = maps ? maps->find(file) : std::string::npos; at != std::string::npos;
       at = maps->find(file, at + 1)) {
    const size_t begin = maps->rfind('\n', at) + 1;
    if (maps->find(number, begin) < at) return true;
  }
  return false;
}

}  // namespace penna

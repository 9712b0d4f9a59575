// SPDX-License-Identifier: MIT
// See mapped_memory.h.
#include "base/mapped_memory.h"

#include <fmt/core.h>

#include <cinttypes>
#include <cstdio>
#include <string>

#include "base/file.h"
#include "base/in_proc.h"

namespace penna {
namespace {

// visit(const MappedMemfd&, offset in the file) returns whether to go on.
template <typename Visit>
void for_each_mapped(uint32_t pid, const char* name, Visit&& visit) {
  const auto maps = read_file(in_proc(pid, "maps"), 64 << 20);
  const std::string file = fmt::format("/memfd:{}", name);
  for (size_t at = maps ? maps->find(file) : std::string::npos; at != std::string::npos;
       at = maps->find(file, at + 1)) {
    const size_t begin = maps->rfind('\n', at) + 1;
    MappedMemfd found;
    uint64_t start = 0, offset = 0, inode = 0;
    const std::string line = maps->substr(begin, at - begin);
    constexpr const char* kForm = "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %" SCNu64;
    if (std::sscanf(line.c_str(), kForm, &start, &offset, &inode) != 3) continue;
    found.start = RemoteBytes(start);
    found.inode = inode;
    if (!visit(found, offset)) return;
  }
}

}  // namespace

bool has_mapped(uint32_t pid, const char* name, ino_t inode) {
  bool has = false;
  for_each_mapped(pid, name, [&](const MappedMemfd& memory, uint64_t) { return !(has = memory.inode == inode); });
  return has;
}

std::optional<MappedMemfd> find_mapped(uint32_t pid, const char* name) {
  std::optional<MappedMemfd> first;
  for_each_mapped(pid, name, [&](const MappedMemfd& memory, uint64_t offset) {
    if (offset == 0) first = memory;
    return !first;
  });
  return first;
}

}  // namespace penna

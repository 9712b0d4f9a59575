// SPDX-License-Identifier: MIT
// See memory_ranges.h. Reference: proc(5), /proc/PID/maps.
#include "base/memory_ranges.h"

#include <cinttypes>
#include <cstdio>
#include <sstream>

#include "base/file.h"
#include "base/in_proc.h"

namespace penna {

std::vector<MemoryRange> memory_ranges(pid_t pid) {
  const auto maps = read_file(in_proc(pid, "maps"), size_t{64} << 20);
  std::istringstream lines(maps ? *maps : std::string());
  std::vector<MemoryRange> ranges;
  for (std::string line; std::getline(lines, line);) {
    MemoryRange one;
    char rights[5] = {};
    int name_at = 0;  // after offset, device, inode and the blanks before a name
    constexpr const char* kForm = "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n";
    if (std::sscanf(line.c_str(), kForm, &one.start, &one.end, rights, &name_at) != 3) continue;
    one.executable = rights[2] == 'x';
    if (name_at > 0) one.name = line.substr(static_cast<size_t>(name_at));
    ranges.push_back(std::move(one));
  }
  return ranges;
}

}  // namespace penna

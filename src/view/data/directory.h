// SPDX-License-Identifier: MIT
// Directory: finds things in a recording by name: functions and spans, threads, locks, points.
//
// Invariant: an entry's count is that of the tracks; ids are NameIds', a thread's is its index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "view/data/view_source.h"

namespace penna {

struct DirectoryEntry {
  const char* kind;  // "function", "thread", "lock", "point"
  uint32_t id = 0;
  uint64_t count = 0;
  int64_t total_ns = 0;  // in a function; waiting for a lock
};

class Directory {
 public:
  explicit Directory(ViewSource& data);
  // JSON: those whose names hold `text`, ignoring case; the longest total first.
  std::string find(std::string_view text, const NameIds& ids) const;

 private:
  const std::string& name_of(const DirectoryEntry& entry, const NameIds& ids) const;

  std::vector<DirectoryEntry> entries_;
  std::vector<std::string> threads_;  // names by index
};

}  // namespace penna

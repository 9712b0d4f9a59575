// SPDX-License-Identifier: MIT
// See memory_groups.h. References: proc_pid_mountinfo(5), cgroups(7).
#include "collect/memory_groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/whole_number.h"

namespace penna {
namespace {

// Nothing for "max".
std::optional<uint64_t> number_of_file(const std::string& path) {
  const auto text = read_file(path, 64);
  return text ? whole_number<uint64_t>(text->substr(0, text->find('\n'))) : std::nullopt;
}

// The value of a line "NAME VALUE"; 0: there is none.
uint64_t value_of(const std::string& lines, std::string_view name) {
  std::istringstream words(lines);
  std::string word;
  uint64_t value = 0;
  while (words >> word >> value)
    if (word == name) return value;
  return 0;
}

bool has_in_list(std::string_view list, std::string_view word) {
  return fmt::format(",{},", list).find(fmt::format(",{},", word)) != std::string::npos;
}

// What the group of this directory has; nothing: it has no limit.
std::optional<GroupMemory> memory_of_group(const std::string& directory, bool is_unified) {
  constexpr uint64_t kUnlimited = uint64_t{1} << 60;  // version 1 has a number for that
  const auto limit = number_of_file(directory + (is_unified ? "/memory.max" : "/memory.limit_in_bytes"));
  if (!limit || *limit >= kUnlimited) return {};
  const auto used = number_of_file(directory + (is_unified ? "/memory.current" : "/memory.usage_in_bytes"));
  const auto lines = read_file(directory + "/memory.stat");
  const char* prefix = is_unified ? "" : "total_";
  const uint64_t of_files = !lines ? 0
                                   : value_of(*lines, fmt::format("{}inactive_file", prefix)) +
                                         value_of(*lines, fmt::format("{}active_file", prefix));
  const uint64_t kept = used.value_or(0) - std::min(used.value_or(0), of_files);
  return GroupMemory{*limit, *limit - std::min(*limit, kept)};
}

}  // namespace

MemoryGroups::MemoryGroups(std::string proc) : proc_(std::move(proc)) {
  const auto mounts = read_file(proc_ + "/self/mountinfo");
  std::istringstream lines(mounts ? *mounts : "");
  for (std::string line; std::getline(lines, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::string skipped, root, mounted, type, source, options;
    std::istringstream(line) >> skipped >> skipped >> skipped >> root >> mounted;
    std::istringstream(line.substr(dash + 3)) >> type >> source >> options;
    if (type == "cgroup2" || (type == "cgroup" && has_in_list(options, "memory")))
      hierarchies_.push_back({type == "cgroup2", root == "/" ? "" : root, mounted});
  }
}

std::optional<GroupMemory> MemoryGroups::of(pid_t pid) const {
  if (hierarchies_.empty()) return {};
  const auto groups = read_file(fmt::format("{}/{}/cgroup", proc_, pid));
  std::istringstream lines(groups ? *groups : "");
  std::optional<GroupMemory> least;
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    for (const Hierarchy& one : hierarchies_) {
      if (one.is_unified ? !controllers.empty() : !has_in_list(controllers, "memory")) continue;
      // Of a group outside of what is mounted here, at least the mounted one is known.
      std::string path = group.starts_with(one.root + "/") ? group.substr(one.root.size()) : "";
      while (path.ends_with('/')) path.pop_back();
      for (;; path.erase(path.rfind('/'))) {
        if (const auto memory = memory_of_group(one.mounted + path, one.is_unified))
          least =
              least ? GroupMemory{std::min(least->limit, memory->limit), std::min(least->free, memory->free)} : memory;
        if (path.empty()) break;
      }
    }
  }
  return least;
}

}  // namespace penna

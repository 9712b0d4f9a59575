// SPDX-License-Identifier: MIT
// See block_family.h.
#include "model/blocks/block_family.h"

#include <fmt/format.h>

#include "base/nearest_name.h"

namespace penna {
namespace {

constexpr std::string_view kPoolPrefix = "pool:";
constexpr const char* kHeapKinds[] = {"malloc", "calloc", "realloc", "aligned", "unknown"};
// By penna_map_flag; not all combinations make sense, but a recording may contain them.
constexpr const char* kMapKinds[] = {"anonymous",
                                     "file",
                                     "anonymous, shared",
                                     "file, shared",
                                     "anonymous, reserved",
                                     "file, reserved",
                                     "anonymous, shared, reserved",
                                     "file, shared, reserved",
                                     "unknown"};
constexpr uint32_t kBreak = 9, kPool = 10, kHeap = 16;
static_assert(std::size(kMapKinds) == kMapOfUnknown + 1);

}  // namespace

std::vector<std::string> pool_names(const Recording& recording) {
  std::vector<std::string> names;
  for (const RecordedProcess& process : recording.processes())
    for (const Site& site : process.sites)
      if (site.kind == PENNA_SITE_POOL) names.push_back(site.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<BlockFamily> BlockFamily::find(const Recording& recording, const std::string& name) {
  BlockFamily family;
  family.name_ = name;
  if (name == "heap") return family;
  if (name == "maps" || name == "maps:file" || name == "maps:anonymous") {
    family.space_ = BlockSpace::kMaps;
    if (name != "maps") family.flag_mask_ = PENNA_MAP_FILE | kMapOfUnknown;
    if (name == "maps:file") family.flag_value_ = PENNA_MAP_FILE;
    return family;
  }
  if (name.starts_with(kPoolPrefix)) {
    family.space_ = BlockSpace::kPool;
    for (uint32_t i = 0; i < recording.processes().size(); ++i)
      for (const Site& site : recording.processes()[i].sites)
        if (site.kind == PENNA_SITE_POOL && site.name == name.substr(kPoolPrefix.size()))
          family.pools_.push_back(uint64_t{i} << 32 | site.id);
    std::sort(family.pools_.begin(), family.pools_.end());
    if (!family.pools_.empty()) return family;
  }
  std::vector<std::string> known = {"heap", "maps", "maps:file", "maps:anonymous"};
  for (const std::string& pool : pool_names(recording)) known.push_back(fmt::format("{}{}", kPoolPrefix, pool));
  return Error{there_is_no("--family", name, known)};
}

uint32_t block_kind(const BlockRecord& block) {
  switch (block.space) {
    case BlockSpace::kHeap: return kHeap + std::min<uint32_t>(block.family, PENNA_FAMILY_COUNT);
    case BlockSpace::kMaps:
      return block.family == PENNA_MAP_BRK ? kBreak : std::min<uint32_t>(block.flags, kMapOfUnknown);
    case BlockSpace::kPool: break;
  }
  return kPool;
}

const char* block_kind_text(uint32_t kind) {
  if (kind < std::size(kMapKinds)) return kMapKinds[kind];
  if (kind == kBreak) return "data segment";
  if (kind == kPool) return "pool";
  return kHeapKinds[std::min<size_t>(kind - kHeap, std::size(kHeapKinds) - 1)];
}

}  // namespace penna

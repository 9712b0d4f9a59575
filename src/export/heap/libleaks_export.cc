// SPDX-License-Identifier: MIT
// See libleaks_export.h.
#include "export/heap/libleaks_export.h"

#include <algorithm>
#include <string>
#include <vector>

#include "export/text/event_words.h"

namespace penna {
namespace {

struct LiveBlock {
  uint64_t number = 0;  // in the order of allocation
  uint64_t address = 0, size = 0;
  uint32_t stack = 0;
};

std::vector<LiveBlock> newest_first(HeapChanges& history, uint32_t process, const HeapPick& pick, uint64_t* left_out) {
  NumberMap<LiveBlock> live;
  uint64_t number = 0;
  const auto on_change = [&](const HeapChange& change) {
    if (change.is_free) {
      live.erase(change.address);
      // Beyond the maximum of live blocks, new ones are left out; a free makes room again.
    } else if (live.size() < pick.most) {
      live.insert_or_assign(change.address, LiveBlock{number++, change.address, change.size, change.stack});
    } else {
      ++*left_out;
    }
    return true;
  };
  history.for_each(process, on_change, pick);
  std::vector<LiveBlock> blocks;
  for (const auto& [address, block] : live) blocks.push_back(block);
  std::sort(blocks.begin(), blocks.end(), [](auto& a, auto& b) { return a.number > b.number; });
  return blocks;
}

std::string frames_text(const Recording& recording, Names& names, uint32_t process, uint32_t stack, uint32_t depth) {
  std::string text;
  for (auto node = recording.stack_node(process, stack); node && depth-- != 0;
       node = recording.stack_node(process, node->parent)) {
    // The function that contains the code, not one inlined there: the offset after it counts from its start.
    const NameFrame& function = names.frame(process, node->pc, node->generation).back();
    std::string name = function.named ? one_line(function.function) : "";
    if (const auto offset = names.offset_in_function(process, node->pc, node->generation); function.named && offset)
      name += fmt::format("+0x{:x}", *offset);
    text += fmt::format("   {}[0x{:x}]\n", name.empty() ? "" : name + " ", node->pc);
    if (node->cut) break;
  }
  return text;
}

}  // namespace

bool export_libleaks_map(const Recording& recording, uint32_t process, const TextSink& sink) {
  TextBuffer out(sink);
  std::vector<Module> modules = recording.processes()[process].modules;
  std::stable_sort(modules.begin(), modules.end(), [](auto& a, auto& b) { return a.start < b.start; });
  for (const Module& module : modules) {
    // As in /proc/PID/maps (proc(5)), with its padding. Offset, device and inode are not recorded.
    const std::string range = fmt::format("{:08x}-{:08x} r-xp 00000000 00:00 0", module.start, module.end);
    out.format("{:<72} {}\n", range, one_line(module.path));
  }
  return out.flush();
}

LibleaksReport export_libleaks_trace(const Recording& recording, Names& names, HeapChanges& history, uint32_t process,
                                     const TextSink& sink, const HeapPick& pick) {
  LibleaksReport report;
  const std::vector<LiveBlock> blocks = newest_first(history, process, pick, &report.left_out);
  report.blocks = blocks.size();
  TextBuffer out(sink);
  out.format("information about {} allocations\n", blocks.size());
  NumberMap<std::string> stacks;  // their lines
  for (size_t i = 0; i < blocks.size() && out.ok(); ++i) {
    const LiveBlock& block = blocks[i];
    out.format("{}. block at 0x{:x} with size {}\n", i, block.address, block.size);
    if (!pick.wants_stack(block.size)) continue;
    const auto [found, added] = stacks.try_emplace(block.stack);
    if (added) found.value() = frames_text(recording, names, process, block.stack, pick.depth);
    out.text(found->second);
  }
  out.flush();
  return report;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See perfetto_heap.h.
#include "export/timeline/perfetto_heap.h"

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <vector>

#include "export/text/utf8.h"

namespace penna {
namespace {

// Field numbers, by message.
enum InternedOfHeap : uint32_t {
  kFunctionNames = 5,
  kFrames = 6,
  kCallstacks = 7,
  kBuildIds = 16,
  kPaths = 17,
  kMappings = 19
};
enum InternedString : uint32_t { kStringIid = 1, kStringBytes = 2 };
enum InternedMapping : uint32_t {
  kMappingIid = 1,
  kMappingBuildId = 2,
  kStart = 4,
  kEnd = 5,
  kLoadBias = 6,
  kPath = 7
};
enum Frame : uint32_t { kFrameIid = 1, kFunctionName = 2, kFrameMapping = 3, kRelativePc = 4 };
enum Callstack : uint32_t { kCallstackIid = 1, kFrameIids = 2 };
enum ProfilePacket : uint32_t { kProcessDumps = 5, kContinued = 6, kIndex = 7 };
enum ProcessHeapSamples : uint32_t { kPid = 1, kSamples = 2, kFromStartup = 3, kDumpTime = 9, kHeapName = 11 };
enum HeapSample : uint32_t {
  kCallstack = 1,
  kAllocated = 2,
  kFreed = 3,
  kAllocCount = 5,
  kFreeCount = 6,
};

// A profile comes in several packets, joined by their indexes as long as `continued` is set: neither reader nor writer
// need hold it all at once.
constexpr size_t kStacksOfPacket = 500;

class HeapPackets {
 public:
  using Message = protozero::pbf_writer;
  HeapPackets(const Recording& recording, const Summary& summary, Names& names, const HeapPacket& write)
      : recording_(recording), summary_(summary), names_(names), write_(write) {}

  void write(const Allocations& heap) {
    std::vector<StackAllocations> stacks = heap.stacks();
    std::stable_sort(stacks.begin(), stacks.end(), [](auto& a, auto& b) { return a.process < b.process; });
    for (size_t at = 0; at < stacks.size();) {
      // A packet's dump is for one process.
      size_t end = at;
      while (end < stacks.size() && end - at < kStacksOfPacket && stacks[end].process == stacks[at].process) ++end;
      if (!packet({stacks.data() + at, end - at}, end != stacks.size())) return;
      at = end;
    }
  }

 private:
  bool packet(std::span<const StackAllocations> stacks, bool more) {
    interned_.clear();
    const ProcessSummary& process = summary_.processes[stacks[0].process];
    std::string profile;
    Message message(profile);
    {
      Message dump(message, kProcessDumps);
      dump.add_uint64(kPid, process.pid);
      for (const StackAllocations& stack : stacks) {
        const uint64_t callstack = callstack_iid(stack.process, stack.stack);
        Message sample(dump, kSamples);
        sample.add_uint64(kCallstack, callstack);
        sample.add_uint64(kAllocated, stack.bytes);
        // The format has no field for live bytes: readers compute the difference.
        sample.add_uint64(kFreed, stack.bytes - std::min(stack.bytes, stack.live_bytes));
        sample.add_uint64(kAllocCount, stack.allocations);
        sample.add_uint64(kFreeCount, stack.allocations - std::min(stack.allocations, stack.live_blocks));
      }
      dump.add_bool(kFromStartup, true);
      dump.add_uint64(kDumpTime,
                      static_cast<uint64_t>(std::max<int64_t>(recording_.time().monotonic_ns(process.last_time), 0)));
      dump.add_string(kHeapName, "malloc");
    }
    message.add_bool(kContinued, more);
    message.add_uint64(kIndex, index_++);
    return write_(process.last_time, interned_, profile);
  }

  // In one of the three string tables.
  uint64_t string_iid(InternedOfHeap table, TextMap<uint64_t>& known, const std::string& text) {
    const auto [found, added] = known.try_emplace(text, known.size() + 1);
    if (added) {
      Message data(interned_);
      Message entry(data, table);
      entry.add_uint64(kStringIid, found->second);
      entry.add_bytes(kStringBytes, text);
    }
    return found->second;
  }
  uint64_t callstack_iid(uint32_t process, uint32_t stack) {
    const auto [found, added] = callstacks_.try_emplace(pair_key(process, stack), callstacks_.size() + 1);
    const uint64_t iid = found->second;
    if (!added) return iid;
    std::vector<uint64_t> frames;  // innermost first
    for (auto node = recording_.stack_node(process, stack); node; node = recording_.stack_node(process, node->parent)) {
      // A frame's iid names one function: inlined ones are separate frames, all at the same address.
      const CodePlace place = names_.map().locate_return(process, node->pc, node->generation);
      for (const NameFrame& frame : names_.at(place)) frames.push_back(frame_iid(process, place, frame, node->pc));
      if (node->cut) break;
    }
    if (frames.empty()) frames.push_back(unknown_frame());
    // Callstack.frame_ids begins with the outermost frame, unlike profile.proto.
    std::reverse(frames.begin(), frames.end());
    Message data(interned_);
    Message entry(data, kCallstacks);
    entry.add_uint64(kCallstackIid, iid);
    for (const uint64_t frame : frames) entry.add_uint64(kFrameIids, frame);
    return iid;
  }
  uint64_t frame_iid(uint32_t process, const CodePlace& place, const NameFrame& frame, uint64_t pc) {
    // References to a place's frames stay valid.
    const auto [found, added] = frames_.try_emplace(reinterpret_cast<uintptr_t>(&frame), frames_.size() + 1);
    const uint64_t iid = found->second;
    if (added) {
      const uint64_t mapping = place.known() ? mapping_iid(process, place.module, pc) : 0;
      say_frame(iid, frame.function, mapping, place.known() ? place.address : pc);
    }
    return iid;
  }
  uint64_t unknown_frame() {
    const auto [found, added] = frames_.try_emplace(0, frames_.size() + 1);
    const uint64_t iid = found->second;
    if (added) say_frame(iid, "[no stack was recorded]", 0, 0);
    return iid;
  }
  void say_frame(uint64_t iid, const std::string& function, uint64_t mapping, uint64_t address) {
    const uint64_t name = string_iid(kFunctionNames, function_names_, valid_utf8(function));
    if (mapping == 0) mapping = no_mapping();
    Message data(interned_);
    Message entry(data, kFrames);
    entry.add_uint64(kFrameIid, iid);
    entry.add_uint64(kFunctionName, name);
    entry.add_uint64(kFrameMapping, mapping);
    entry.add_uint64(kRelativePc, address);
  }
  uint64_t mapping_iid(uint32_t process, ModuleId module, uint64_t pc) {
    const auto [found, added] = mappings_.try_emplace(module, mappings_.size() + 1);
    const uint64_t iid = found->second;
    if (added) {
      const auto build_id = names_.map().build_id(module);
      const std::vector<Module>& modules = recording_.processes()[process].modules;
      // By the call, which precedes the return address: see pprof_export.cc.
      const auto lies = std::find_if(modules.begin(), modules.end(),
                                     [&](const Module& one) { return pc - 1 >= one.start && pc - 1 < one.end; });
      say_mapping(iid, names_.map().path(module), std::string(build_id.begin(), build_id.end()),
                  lies == modules.end() ? Module{} : *lies);
    }
    return iid;
  }
  // Perfetto ignores frames without one.
  uint64_t no_mapping() {
    const auto [found, added] = mappings_.try_emplace(kNoModule, mappings_.size() + 1);
    const uint64_t iid = found->second;
    if (added) say_mapping(iid, "[unknown]", "", {});
    return iid;
  }
  void say_mapping(uint64_t iid, const std::string& path, const std::string& build_id, const Module& where) {
    const uint64_t path_iid = string_iid(kPaths, paths_, valid_utf8(path));
    const uint64_t build_iid = string_iid(kBuildIds, build_ids_, build_id);
    Message data(interned_);
    Message entry(data, kMappings);
    entry.add_uint64(kMappingIid, iid);
    entry.add_uint64(kMappingBuildId, build_iid);
    entry.add_uint64(kStart, where.start);
    entry.add_uint64(kEnd, where.end);
    // kRelativePc is already the address in the file: nothing must be added to it.
    entry.add_uint64(kLoadBias, 0);
    entry.add_uint64(kPath, path_iid);
  }

  const Recording& recording_;
  const Summary& summary_;
  Names& names_;
  const HeapPacket& write_;
  std::string interned_;  // of the current packet
  TextMap<uint64_t> function_names_, paths_, build_ids_;
  NumberMap<uint64_t> callstacks_;  // by process and stack
  NumberMap<uint64_t> frames_;      // by NameFrame; 0 without a stack
  NumberMap<uint64_t> mappings_;    // by ModuleId
  uint64_t index_ = 0;
};

}  // namespace

void write_perfetto_heaps(const Recording& recording, const Summary& summary, Names& names, const Allocations& heap,
                          const HeapPacket& write) {
  HeapPackets(recording, summary, names, write).write(heap);
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See lock_index.h.
#include "model/locks/lock_index.h"

#include <algorithm>
#include <map>

#include "model/events/block_records.h"

namespace penna {

LockIndex::LockIndex(const Recording& recording)
    : at_(recording.processes().size()),
      addresses_(recording.processes().size()),
      follows_memory_(std::any_of(recording.chunks().begin(), recording.chunks().end(),
                                  [](const ChunkRef& chunk) { return chunk.events[PENNA_ALLOC] != 0; })) {
  for (uint32_t i = 0; i < recording.processes().size(); ++i)
    add_mappings(i, recording.processes()[i].modules, mappings_);
  std::sort(mappings_.begin(), mappings_.end(), [](const Mapping& a, const Mapping& b) { return a.time < b.time; });
  follows_memory_ |= !mappings_.empty();
}

LockIndex::LockIndex(uint32_t only_process)
    : first_process_(only_process), at_(1), follows_memory_(false), most_remade_(UINT64_MAX) {}

// The same file at its old place has its locks where they were: for the reader they are the same.
void LockIndex::add_mappings(uint32_t process, const std::vector<Module>& modules, std::vector<Mapping>& mappings) {
  std::vector<const Module*> by_time;
  for (const Module& module : modules)
    if (module.start < module.end) by_time.push_back(&module);
  std::stable_sort(by_time.begin(), by_time.end(), [](auto* a, auto* b) { return a->ticks < b->ticks; });
  std::map<uint64_t, const Module*> mapped;  // by end
  for (const Module* module : by_time) {
    bool is_another = false;
    auto one = mapped.upper_bound(module->start);
    while (one != mapped.end() && one->second->start < module->end) {
      const Module& before = *one->second;
      is_another |= before.path != module->path || before.build_id != module->build_id || before.bias != module->bias;
      // What it covers is gone, in part or in full: mmap() over a mapping replaces it.
      one = mapped.erase(one);
    }
    mapped[module->end] = module;
    if (is_another) mappings.push_back({module->ticks, process, module->start, module->end});
  }
}

uint32_t LockIndex::find(uint32_t process, LockKind kind, uint64_t address, uint32_t next, bool* added) {
  const auto [found, is_new] = at_[process - first_process_].try_emplace(key(kind, address), next);
  if (is_new && follows_memory_) addresses_[process].insert(address);
  *added = is_new;
  return found->second;
}

const uint32_t* LockIndex::peek(uint32_t process, LockKind kind, uint64_t address) const {
  const auto found = at_[process - first_process_].find(key(kind, address));
  return found == at_[process - first_process_].end() ? nullptr : &found->second;
}

bool LockIndex::retire(uint32_t process, LockKind kind, uint64_t address, uint32_t* index) {
  const auto found = at_[process - first_process_].find(key(kind, address));
  if (found == at_[process - first_process_].end()) return false;
  if (remade_ >= most_remade_) {
    ++folded_;
    return false;
  }
  ++remade_;
  *index = found->second;
  at_[process - first_process_].erase(found);
  return true;
}

void LockIndex::forget(uint32_t process, LockKind kind, uint64_t address, uint32_t index) {
  NumberMap<uint32_t>& at = at_[process - first_process_];
  const auto found = at.find(key(kind, address));
  if (found != at.end() && found->second == index) at.erase(found);
}

std::pair<uint64_t, uint64_t> LockIndex::new_memory(const Event& event) {
  const BlockRecord block = read_heap_block(event.record);
  if (block.action == BlockAction::kFreed && block.family == PENNA_FAMILY_REALLOC) moved_[event.thread] = block.address;
  if (block.action != BlockAction::kAllocated) return {0, 0};
  uint64_t begin = block.address, end;
  if (__builtin_add_overflow(begin, block.size, &end)) end = UINT64_MAX;
  if (block.family == PENNA_FAMILY_REALLOC) {  // it may have stayed in place, along with its contents
    const auto moved = moved_.find(event.thread);
    if (moved != moved_.end() && moved->second == begin) return {0, 0};
  }
  return {begin, end};
}

}  // namespace penna

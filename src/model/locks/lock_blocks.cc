// SPDX-License-Identifier: MIT
// See lock_blocks.h.
#include "model/locks/lock_blocks.h"

#include <algorithm>

#include "model/events/block_records.h"
#include "model/events/summary.h"

namespace penna {
LockBlocks::LockBlocks(const Recording& recording, const Locks& locks, const CodeMap& map)
    : recording_(recording),
      parents_(process_parents(recording)),
      asked_(recording.processes().size()),
      sizes_(recording.processes().size()) {
  for (uint32_t i = 0; i < parents_.size(); ++i)
    if (recording.processes()[i].process.after_exec) parents_[i] = kNoIndex;
  for (const LockStats& lock : locks.all())
    if (lock.kind != LockKind::kJoin && !map.locate(lock.process, lock.address, lock.first_time).known())
      ask(recording, lock.process, lock.address, lock.first_time);
  for (Asked& asked : asked_) {
    std::vector<Question>& all = asked.questions;
    std::sort(all.begin(), all.end(), [](const Question& a, const Question& b) {
      return a.address != b.address ? a.address < b.address : a.until < b.until;
    });
    const auto same = [](auto& a, auto& b) { return a.address == b.address && a.until == b.until; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    for (size_t i = 0; i < all.size(); ++i) {
      if (asked.places.empty() || asked.places.back().address != all[i].address)
        asked.places.push_back({all[i].address, i, i});
      asked.places.back().end = i + 1;
    }
  }
}

void LockBlocks::ask(const Recording& recording, uint32_t process, uint64_t address, uint64_t until) {
  asks_ = true;
  for (int hops = 0; process != kNoIndex && hops <= kMostAncestors; ++hops) {
    asked_[process].questions.push_back({address, until});
    until = std::min(until, recording.processes()[process].process.start_ticks);
    process = parents_[process];
  }
}

std::vector<LockBlocks::Place>::iterator LockBlocks::first_from(Asked& asked, uint64_t address) {
  return std::lower_bound(asked.places.begin(), asked.places.end(), address,
                          [](const Place& one, uint64_t from) { return one.address < from; });
}

// Answers the questions about times before this one.
void LockBlocks::pass(Asked& asked, Place& place, uint64_t time) {
  for (; place.next < place.end && asked.questions[place.next].until < time; ++place.next)
    asked.questions[place.next].block = place.block;
}

void LockBlocks::operator()(const Event& event) {
  if (asked_[event.process].places.empty()) return;
  const BlockRecord block = read_heap_block(event.record);
  if (block.action == BlockAction::kAllocated) allocated(event, block.address, block.size, block.stack);
  // Except by realloc: it may fail, and what it moves is reported as a new block.
  if (block.action == BlockAction::kFreed && block.family != PENNA_FAMILY_REALLOC) freed(event, block.address);
}

void LockBlocks::allocated(const Event& event, uint64_t address, uint64_t size, uint32_t stack) {
  Asked& asked = asked_[event.process];
  for (auto place = first_from(asked, address); place != asked.places.end() && place->address - address < size;
       ++place) {
    pass(asked, *place, event.time);
    place->block = {address, size, event.process, stack};
    sizes_[event.process][address] = size;
  }
}

void LockBlocks::freed(const Event& event, uint64_t address) {
  auto size = sizes_[event.process].find(address);
  if (size == sizes_[event.process].end()) return;
  Asked& asked = asked_[event.process];
  for (auto place = first_from(asked, address); place != asked.places.end() && place->address - address < size->second;
       ++place) {
    pass(asked, *place, event.time);
    if (place->block.address == address) place->block = {};
  }
  sizes_[event.process].erase(size);
}

void LockBlocks::finish() {
  for (Asked& asked : asked_)
    for (Place& place : asked.places) pass(asked, place, UINT64_MAX);
}

const LockBlock* LockBlocks::of(uint32_t process, uint64_t address, uint64_t first) const {
  for (int hops = 0; process != kNoIndex && hops <= kMostAncestors; ++hops) {
    const std::vector<Question>& all = asked_[process].questions;
    const auto question = std::lower_bound(all.begin(), all.end(), std::pair(address, first), [](auto& one, auto& key) {
      return one.address != key.first ? one.address < key.first : one.until < key.second;
    });
    if (question != all.end() && question->address == address && question->until == first && question->block.size != 0)
      return &question->block;
    first = std::min(first, recording_.processes()[process].process.start_ticks);
    process = parents_[process];
  }
  return nullptr;
}

}  // namespace penna

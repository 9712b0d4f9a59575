// SPDX-License-Identifier: MIT
// See lock_blocks.h.
#include "model/lock_blocks.h"

#include <algorithm>

#include "model/block_records.h"
#include "model/summary.h"

namespace penna {
namespace {

constexpr int kMostAncestors = 16;  // that are asked: processes that fork from each other without end share little

}  // namespace

LockBlocks::LockBlocks(const Recording& recording, const Locks& locks, const CodeMap& map)
    : parents_(process_parents(recording)),
      questions_(recording.processes().size()),
      sizes_(recording.processes().size()) {
  for (uint32_t i = 0; i < parents_.size(); ++i)
    if (recording.processes()[i].process.after_exec) parents_[i] = kNoIndex;
  const auto ask_outside = [&](uint32_t process, uint64_t address, uint64_t time) {
    if (!map.locate(process, address, time).known()) ask(recording, process, address, time);
  };
  for (const LockStats& lock : locks.all()) ask_outside(lock.process, lock.address, lock.first_time);
  for (const ConditionStats& condition : locks.conditions())
    ask_outside(condition.process, condition.address, condition.first_time);
  for (Questions& all : questions_) {
    std::sort(all.begin(), all.end(), [](const Question& a, const Question& b) {
      if (a.address != b.address) return a.address < b.address;
      return a.own != b.own ? a.own : a.until > b.until;
    });
    // Asked for itself and for a child, it is the same lock: its own first use counts.
    all.erase(std::unique(all.begin(), all.end(), [](auto& a, auto& b) { return a.address == b.address; }), all.end());
  }
}

void LockBlocks::ask(const Recording& recording, uint32_t process, uint64_t address, uint64_t until) {
  asks_ = true;
  for (int hops = 0; process != kNoIndex && hops <= kMostAncestors; ++hops) {
    questions_[process].push_back({address, until, hops == 0});
    until = std::min(until, recording.processes()[process].process.start_ticks);
    process = parents_[process];
  }
}

LockBlocks::Questions::iterator LockBlocks::first_from(Questions& questions, uint64_t address) {
  return std::lower_bound(questions.begin(), questions.end(), address,
                          [](const Question& one, uint64_t from) { return one.address < from; });
}

void LockBlocks::operator()(const Event& event) {
  if (questions_[event.process].empty()) return;
  const BlockRecord block = read_heap_block(event.record);
  if (block.deed == BlockDeed::kAllocated) allocated(event, block.address, block.size, block.stack);
  // Not those by realloc: it may fail, and what it moves is told as a new block.
  if (block.deed == BlockDeed::kFreed && block.family != PENNA_FAMILY_REALLOC) freed(event, block.address);
}

void LockBlocks::allocated(const Event& event, uint64_t address, uint64_t size, uint32_t stack) {
  Questions& all = questions_[event.process];
  for (auto question = first_from(all, address); question != all.end() && question->address - address < size;
       ++question) {
    if (event.time > question->until) continue;
    question->block = {address, size, event.process, stack};
    sizes_[event.process][address] = size;
  }
}

void LockBlocks::freed(const Event& event, uint64_t address) {
  auto size = sizes_[event.process].find(address);
  if (size == sizes_[event.process].end()) return;
  Questions& all = questions_[event.process];
  for (auto question = first_from(all, address); question != all.end() && question->address - address < size->second;
       ++question)
    if (event.time <= question->until && question->block.address == address) question->block = {};
  sizes_[event.process].erase(size);
}

const LockBlock* LockBlocks::of(uint32_t process, uint64_t address) const {
  for (int hops = 0; process != kNoIndex && hops <= kMostAncestors; ++hops, process = parents_[process]) {
    Questions& all = questions_[process];
    const auto question = first_from(all, address);
    if (question != all.end() && question->address == address && question->block.size != 0) return &question->block;
  }
  return nullptr;
}

}  // namespace penna

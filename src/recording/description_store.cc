// SPDX-License-Identifier: MIT
// See description_store.h.
#include "recording/description_store.h"

#include <algorithm>
#include <iterator>

#include "recording/writer.h"

namespace penna {

// Readers interpolate: where the recording began and the newest are enough.
void DescriptionStore::add_clock(const ClockTriplet& clock) {
  clocks_.push_back(clock);
  if (clocks_.size() > kMostClocks) clocks_.erase(std::next(clocks_.begin()));
}

DescriptionStore::Known* DescriptionStore::find(uint32_t process) {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second;
}

void DescriptionStore::add_process(const Process& process) { processes_[process.number].process = process; }

void DescriptionStore::add_end(const ProcessEnd& end) {
  if (Known* known = find(end.number)) known->end = end;
}

void DescriptionStore::add_threads(uint32_t process, std::span<const Thread> threads) {
  Known* known = find(process);
  if (known == nullptr) return;
  for (const Thread& thread : threads) {
    std::vector<Thread>& names = known->threads[thread.serial];
    // Named again when its chunk is full (ProcessDrain::write_open_chunks).
    const bool is_known = std::any_of(names.begin(), names.end(), [&](const Thread& one) {
      return one.ticks == thread.ticks && one.name == thread.name;
    });
    if (is_known) continue;
    names.push_back(thread);
    if (names.size() > kMostNames) names.erase(names.begin());
  }
  if (known->threads.size() > kMostThreads) drop_dead_threads(*known);
}

// Of the older half: chunks of the others may still be kept.
void DescriptionStore::drop_dead_threads(Known& known) const {
  auto at = known.threads.begin();
  for (size_t left = known.threads.size() / 2; left != 0; --left)
    at = thread_lives_(known.process.pid, at->second.back().tid) ? std::next(at) : known.threads.erase(at);
  while (known.threads.size() > kMostThreads) known.threads.erase(std::next(known.threads.begin()));  // not the first
}

void DescriptionStore::add_modules(uint32_t process, std::span<const Module> modules) {
  Known* known = find(process);
  if (known == nullptr) return;
  for (const Module& module : modules) {
    if (!known->mapped.emplace(module.start, module.ticks).second) continue;
    known->modules.push_back(module);
    if (known->modules.size() <= kMostModules) continue;
    known->mapped.erase({known->modules.front().start, known->modules.front().ticks});
    known->modules.pop_front();
  }
}

void DescriptionStore::add_sites(uint32_t process, std::span<const Site> sites) {
  Known* known = find(process);
  if (known == nullptr) return;
  for (const Site& site : sites)
    if (known->sites.size() < kMostSites || known->sites.count(site.id) != 0) known->sites[site.id] = site;
}

// The drain reads the tree from its beginning on, so there are no gaps.
void DescriptionStore::add_stacks(uint32_t process, uint32_t first_id, std::span<const penna_stack_node> nodes) {
  Known* known = find(process);
  if (known == nullptr || first_id > known->stacks.size()) return;
  stack_bytes_ -= known->stacks.capacity() * sizeof(penna_stack_node);
  if (known->stacks.size() < first_id + nodes.size()) known->stacks.resize(first_id + nodes.size());
  std::copy(nodes.begin(), nodes.end(), known->stacks.begin() + first_id);
  stack_bytes_ += known->stacks.capacity() * sizeof(penna_stack_node);
}

void DescriptionStore::forget(uint32_t process) {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return;
  stack_bytes_ -= found->second.stacks.capacity() * sizeof(penna_stack_node);
  processes_.erase(found);
}

// The writer remembers errors.
void DescriptionStore::write(RecordingWriter& writer) const {
  for (const ClockTriplet& clock : clocks_) (void)writer.write_clock(clock);
  for (const auto& [number, known] : processes_) {
    (void)writer.write_process(known.process);
    (void)writer.write_modules(number, std::vector<Module>(known.modules.begin(), known.modules.end()));
    std::vector<Site> sites;
    for (const auto& [id, site] : known.sites) sites.push_back(site);
    (void)writer.write_sites(number, sites);
    std::vector<Thread> threads;
    for (const auto& [serial, names] : known.threads) threads.insert(threads.end(), names.begin(), names.end());
    (void)writer.write_threads(number, threads);
  }
}

void DescriptionStore::write_rest(RecordingWriter& writer) const {
  for (const auto& [number, known] : processes_) {
    (void)writer.write_stacks(number, 0, known.stacks);
    if (known.end) (void)writer.write_process_end(*known.end);
  }
}

size_t DescriptionStore::threads() const {
  size_t sum = 0;
  for (const auto& [number, known] : processes_) sum += known.threads.size();
  return sum;
}

}  // namespace penna

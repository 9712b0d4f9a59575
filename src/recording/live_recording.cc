// SPDX-License-Identifier: MIT
// See live_recording.h.
#include "recording/live_recording.h"

#include <algorithm>
#include <utility>

#include "recording/reader_state.h"

namespace penna {

LiveRecording::LiveRecording(const Session& session, const ClockTriplet& start)
    : recording_(std::make_unique<Recording::State>()) {
  Recording::State& state = *recording_.state_;
  state.session = session;
  state.clocks = {start};
  state.time = TimeMap(state.clocks, session.ticks_per_second);
  state.first_chunk = {0};
}

void LiveRecording::describe(const std::string& path, const Session& session) {
  recording_.state_->path = path;
  recording_.state_->session = session;
}

// Two triplets give a rate: the start's, and the newest.
void LiveRecording::set_clock(const ClockTriplet& now) { set_clocks({recording_.state_->clocks.front(), now}); }

void LiveRecording::set_clocks(std::vector<ClockTriplet> clocks) {
  Recording::State& state = *recording_.state_;
  state.clocks = std::move(clocks);
  state.time = TimeMap(state.clocks, state.session.ticks_per_second);
}

void LiveRecording::end_process(uint32_t process, const ProcessEnd& end) {
  recording_.state_->processes[process].end = end;
}

uint32_t LiveRecording::add_process(const Process& process) {
  Recording::State& state = *recording_.state_;
  RecordedProcess& added = state.processes.emplace_back();
  added.process = process;
  added.announced = true;
  state.stacks.emplace_back();
  state.module_maps.emplace_back();
  changed_.push_back(false);
  return static_cast<uint32_t>(state.processes.size() - 1);
}

uint32_t LiveRecording::add_thread(uint32_t process, uint32_t serial, uint32_t tid) {
  Recording::State& state = *recording_.state_;
  const auto index = static_cast<uint32_t>(state.threads.size());
  RecordedThread& added = state.threads.emplace_back();
  added.process = process;
  added.serial = serial;
  added.tid = tid;
  state.first_chunk.push_back(0);
  state.processes[process].threads.push_back(index);
  return index;
}

void LiveRecording::name_thread(uint32_t thread, const std::string& name) {
  if (!name.empty()) recording_.state_->threads[thread].name = name;
}

void LiveRecording::add_module(uint32_t process, Module module) {
  recording_.state_->processes[process].modules.push_back(std::move(module));
  changed_[process] = true;
}

// Sorted by id, because Recording::site() bisects; a later description of an id replaces the earlier one.
void LiveRecording::add_site(uint32_t process, Site site) {
  std::vector<Site>& sites = recording_.state_->processes[process].sites;
  if (site.kind == PENNA_SITE_ARGUMENTS) {
    std::vector<uint64_t>& functions = recording_.state_->processes[process].with_arguments;
    functions.insert(std::lower_bound(functions.begin(), functions.end(), site.address), site.address);
  }
  auto at =
      std::lower_bound(sites.begin(), sites.end(), site.id, [](const Site& one, uint32_t id) { return one.id < id; });
  if (at != sites.end() && at->id == site.id) {
    *at = std::move(site);
  } else {
    sites.insert(at, std::move(site));
  }
}

void LiveRecording::add_stacks(uint32_t process, uint32_t first, std::span<const penna_stack_node> nodes) {
  recording_.state_->stacks[process].add(first, nodes);
}

// Builds the maps of processes with new modules. True if there were any: earlier look-ups may be stale.
bool LiveRecording::prepare() {
  bool any = false;
  for (uint32_t process = 0; process < changed_.size(); ++process) {
    if (!changed_[process]) continue;
    Recording::State& state = *recording_.state_;
    std::vector<Module>& modules = state.processes[process].modules;
    std::stable_sort(modules.begin(), modules.end(),
                     [](const Module& a, const Module& b) { return a.ticks < b.ticks; });
    state.module_maps[process] = ModuleMap(modules);
    changed_[process] = false;
    any = true;
  }
  return any;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// LiveRecording: the description of a recording in progress: its processes, threads, modules, sites and stacks, behind
// the interface of a Recording, so that names, timelines and printers need not know that it grows.
//
// Usage: add_*() as descriptions arrive, prepare() before querying recording() for what has changed.
// Invariant: an index, once assigned, stays valid; there are no chunks: records are delivered separately.
// Memory grows with the descriptions, each module, site and stack once; not with events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recording/reader.h"

namespace penna {

class LiveRecording {
 public:
  LiveRecording(const Session& session, const ClockTriplet& start);

  const Recording& recording() const { return recording_; }

  // Each returns the index. A thread is identified by its serial.
  uint32_t add_process(const Process& process);
  uint32_t add_thread(uint32_t process, uint32_t serial, uint32_t tid);

  // Sets what was unknown at construction: its path, and what its first block says.
  void describe(const std::string& path, const Session& session);
  // A later reading than that of the start: from here on ticks are converted by the two.
  void set_clock(const ClockTriplet& now);
  // The same with all readings, in any order.
  void set_clocks(std::vector<ClockTriplet> clocks);
  void name_thread(uint32_t thread, const std::string& name);
  void add_module(uint32_t process, Module module);
  void add_site(uint32_t process, Site site);  // the last description of an id wins
  void add_stacks(uint32_t process, uint32_t first, std::span<const penna_stack_node> nodes);
  void end_process(uint32_t process, const ProcessEnd& end);

  // True if modules were added since the last call: anything derived from a recording's modules (Names) must be
  // rebuilt.
  bool prepare();

 private:
  Recording recording_;
  std::vector<bool> changed_;  // by process: has modules that are not in its map
};

}  // namespace penna

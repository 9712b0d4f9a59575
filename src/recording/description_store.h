// SPDX-License-Identifier: MIT
// DescriptionStore: what a recording says of its processes besides their events, kept in memory, so that it can be
// written into any number of files.
//
// Why: a flight recorder makes a file of each snapshot, each complete in itself; and what it has not stored must not
// lie on a disk for months.
// Invariant: bounded for each process (the limits below, and its own stack tree); nothing is kept of a process
// that was forgotten.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "recording/types.h"

namespace penna {

class RecordingWriter;

// One thread at a time.
class DescriptionStore {
 public:
  static constexpr size_t kMostClocks = 256;       // the first, and the newest
  static constexpr size_t kMostModules = 16384;    // of a process: the newest
  static constexpr size_t kMostThreads = 1 << 14;  // of a process: those that live, and the newest
  static constexpr size_t kMostNames = 16;         // of a thread: the newest
  static constexpr size_t kMostSites = 1 << 20;    // of a process

  // `thread_lives`: whether a process has the thread still; only asked where there are too many.
  explicit DescriptionStore(bool (*thread_lives)(uint32_t pid, uint32_t tid)) : thread_lives_(thread_lives) {}

  void add_clock(const ClockTriplet& clock);
  void add_process(const Process& process);
  // The others are for processes that were added, and not forgotten; else nothing happens.
  void add_end(const ProcessEnd& end);
  void add_threads(uint32_t process, std::span<const Thread> threads);
  void add_modules(uint32_t process, std::span<const Module> modules);
  void add_sites(uint32_t process, std::span<const Site> sites);
  void add_stacks(uint32_t process, uint32_t first_id, std::span<const penna_stack_node> nodes);
  void forget(uint32_t process);

  // Writes everything except stacks and ends, which may come behind the chunks, and with write_rest() must.
  void write(RecordingWriter& writer) const;
  void write_rest(RecordingWriter& writer) const;

  size_t processes() const { return processes_.size(); }
  size_t threads() const;                              // of all processes
  size_t stack_bytes() const { return stack_bytes_; }  // likewise

 private:
  struct Known {
    Process process;
    std::optional<ProcessEnd> end;
    std::deque<Module> modules;
    std::set<std::pair<uint64_t, uint64_t>> mapped;   // start and time of these
    std::map<uint32_t, Site> sites;                   // by id
    std::map<uint32_t, std::vector<Thread>> threads;  // by serial
    std::vector<penna_stack_node> stacks;             // by id
  };
  Known* find(uint32_t process);
  void drop_dead_threads(Known& known) const;

  bool (*thread_lives_)(uint32_t pid, uint32_t tid);
  std::deque<ClockTriplet> clocks_;
  std::map<uint32_t, Known> processes_;
  size_t stack_bytes_ = 0;
};

}  // namespace penna

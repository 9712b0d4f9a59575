// SPDX-License-Identifier: MIT
// UprobeWatch: records processes by uprobes, which the kernel sets, and removes when we end, however we end.
//
// Nothing is stopped or traced: what threads hit is read from a ring a moment later (uprobe_ring.h), with the part of
// their memory that was copied at the time. So processes can be recorded that a debugger traces, or that filter their
// system calls.
// Invariant: an event is recorded from what was copied when it happened. What found no room in the ring is counted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "breakpoint/tick_times.h"
#include "breakpoint/traced_events.h"
#include "breakpoint/uprobe_places.h"
#include "breakpoint/uprobe_ring.h"

namespace penna {

// To follow "process N ": the kernel then sets no uprobes, and reports no error.
inline constexpr const char* kNoFirstThread =
    "goes on without its first thread, by which the kernel finds where to set uprobes";

class UprobeWatch : private TracedEvents {
 public:
  explicit UprobeWatch(GuardianPlan plan) : TracedEvents(std::move(plan)) {}

  // For a running process. Returns a sentence; empty: it is recorded.
  std::string attach(pid_t pid);
  // Records until `socket` is readable.
  void work(int socket);
  // Removes all uprobes, and reads what is left in the ring.
  LeftPlaces leave();

 private:
  // One process.
  struct Watched {
    Fd ends;  // a pidfd
    std::vector<Fd> links;
    std::unordered_set<uint64_t> returns;  // run-time addresses
    std::map<uint64_t, uint8_t> before;    // the bytes where the kernel writes
  };
  // One file: opened, because whoever had it mapped may be gone when the next process gets its uprobes.
  struct WatchedFile {
    Fd opened;
    UprobePlaces places;
  };

  std::string begin(pid_t pid);
  bool watch(pid_t pid);
  void unwatch(pid_t pid);
  void follow_forks(pid_t parent, pid_t thread, uint64_t now);
  void follow_fork(TracedThread& parent, pid_t pid, uint64_t now);
  void become_program(pid_t pid);
  void set_places(TracedProcess& process, pid_t thread, const TracedModule& module) override;
  const WatchedFile& file_of(TracedProcess& process, const TracedModule& module);
  void set_all_places(TracedProcess& process, uint64_t began);

  void read();
  void see(const UprobeRecord& record);
  void hit(TracedThread& thread, const UprobeRecord& record, uint64_t now);
  void thread_is_gone(pid_t thread);
  void count_losses();
  bool can_await(TracedThread&, const EnteredCall&) override { return true; }
  void check_bytes(LeftPlaces* left);

  std::optional<UprobeRing> ring_;
  std::optional<TickTimes> times_;
  pid_t root_ = 0;                                // losses are reported as this one's
  std::map<pid_t, Watched> watched_;              // also children that share their parent's memory until they exec
  std::map<std::string, WatchedFile> files_;      // by path and build-id
  uint64_t losses_[PENNA_CLASS_SLOTS] = {};       // of the ring, so far
  uint64_t forks_ = 0, followed_ = 0, late_ = 0;  // children, those found, and programs found after their start
};

}  // namespace penna

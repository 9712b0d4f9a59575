// SPDX-License-Identifier: MIT
// UprobeRing: uprobes in the files of processes, and the ring into which the kernel writes what hits them.
//
// One link for all places of a file that need the same copies: removing a single uprobe waits for all processors.
// Invariant: everything ends with our descriptors, however we end: the kernel removes the uprobes.
// References: bpf(2); Documentation/bpf/ringbuf.rst; linux/bpf.h, BPF_LINK_CREATE.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "breakpoint/uprobe_program.h"
#include "penna/event.h"

namespace penna {

struct UprobePlace {
  uint64_t offset = 0;     // in the file
  uint64_t semaphore = 0;  // file offset of a probe's semaphore, which the kernel increments; 0: none
  UprobeCopies copies = UprobeCopies::kWord;
  penna_event_class event_class = PENNA_CALLS;  // losses are counted as such
};

class UprobeRing {
 public:
  // Error: a sentence with what the kernel refuses, and the remedy.
  static Result<UprobeRing> make();
  UprobeRing(UprobeRing&& other) noexcept;
  UprobeRing& operator=(UprobeRing&&) = delete;
  ~UprobeRing();

  // In this file, for the threads of one process.
  struct Uprobes {
    std::vector<Fd> links;          // with which they are removed
    std::vector<uint64_t> refused;  // offsets of instructions that the kernel cannot probe, such as locked ones
  };
  Result<Uprobes> set(pid_t pid, const std::string& file, const std::vector<UprobePlace>& places) const;

  int fd() const { return ring_.get(); }  // readable when there are records
  // Calls see(record) for each record begun before this call; one that is being written is awaited, also if it is of a
  // process that is not watched. So once a process has ended, one call reads all that is left of it. Unless it is kHit
  // or kReturned, `record` is a head alone.
  void read(const std::function<void(const UprobeRecord& record)>& see);
  // Hits that found no room since the last call.
  uint64_t take_lost(penna_event_class event_class);
  // Whether forks, execs and ends of threads of this process get records. False: there is no room for its id.
  bool report_processes(pid_t pid, bool wanted) const;

 private:
  UprobeRing() = default;
  bool link(pid_t pid, const std::string& file, std::span<const UprobePlace> places, Uprobes* made) const;
  Result<> load_programs();
  Result<> map_memory();

  Fd ring_, lost_, processes_;
  std::array<Fd, kUprobeCopies> programs_;  // by UprobeCopies
  std::array<Fd, 3> tracepoints_;           // which run the programs for forks, execs and ends
  uint8_t* consumer_ = nullptr;             // the page that we write to
  uint8_t* producer_ = nullptr;             // the kernel's page; the records follow, mapped twice in a row
  std::array<uint64_t, PENNA_CLASS_SLOTS> taken_{};
};

// A sentence; empty: this kernel lets us have them.
std::string why_no_uprobes();

}  // namespace penna

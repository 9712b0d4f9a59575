// SPDX-License-Identifier: MIT
// Traced: which processes have been traced since when, according to the signals that they get, and what is to be
// written for them.
//
//   idle     SIGUSR1, SIGUSR2   tracing begins
//   tracing  SIGUSR2            a dump
//   tracing  SIGUSR1            a dump; then idle, and everything is forgotten
//
// Invariant: a dump's period begins when its process's tracing did, and ends with the signal that requested it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/export/export_heap.h"
#include "model/names/names.h"

namespace penna {

// A period of one process: what was allocated in it and is live, or all that happened in it, is written.
struct Dump {
  uint32_t pid = 0;
  uint64_t begin = 0, end = UINT64_MAX;  // ticks
};

class Traced {
 public:
  // `from_start`: processes are traced from their beginning (-s).
  explicit Traced(bool from_start) : from_start_(from_start) {}
  std::optional<Dump> signal(uint32_t pid, int number, uint64_t ticks);
  // At the end: what is still traced.
  std::vector<Dump> rest(const Recording& recording) const;

 private:
  std::optional<uint64_t>& since(uint32_t pid);
  bool from_start_;
  std::map<uint32_t, std::optional<uint64_t>> since_;  // by pid, for those that got a signal; nothing: idle
};

// How a dump is written.
struct DumpStyle {
  std::string directory;
  bool rtrace = false;  // PID-N.rtrace.txt, all that happened; else allocs-PID.N.map and .trace, what is live
  bool calls = false;   // calls of functions, as rtrace; else allocations
  HeapPick pick;        // its period is the dump's
};
struct DumpReport {
  std::vector<std::string> files;
  uint64_t left_out = 0;  // blocks, by HeapPick::most
};
// Those of these functions (names or globs) of which no call is in the recording.
std::vector<std::string> functions_without_calls(const Recording& recording, const std::vector<std::string>& functions);
// A file, or a pair, for each program that the process ran in the period. The recording need not be finished.
Result<DumpReport> write_dump(const std::string& recording, const Dump& dump, const DumpStyle& style);

}  // namespace penna

// SPDX-License-Identifier: MIT
// StartedPrograms: programs that recorded processes started but that were not recorded, with the reason; and forked
// children that were not recorded.
//
// Why: only the process that starts a program knows that it exists, and only the recorder knows which have connected.
// So starts are reported (penna_starts in penna/channel.h), and each connection cancels its process's last start.
// Invariant: starts and connections may come in any order; both are untrusted, and memory is bounded.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/count_text.h"
#include "penna/channel.h"

namespace penna {

constexpr uint32_t kUnanswered = PENNA_START_WHYS;
struct UnrecordedProgram {
  std::string path;
  uint32_t pid = 0;  // 0: unknown
  uint32_t why = 0;  // penna_start_why, or kUnanswered
};

class StartedPrograms {
 public:
  // `pid`: in the recorder's pid namespace; 0: unknown.
  void add(const penna_start& start, uint32_t pid);
  // The program that this process runs has connected, and existed at `ticks`.
  void met(uint32_t pid, uint64_t ticks);
  // This process ended or gave up before the recorder answered. `is_recorded`: it is recorded, unless it was about to
  // exec a program.
  void left_unanswered(uint32_t pid, bool is_recorded);
  // Starts that could not be reported for lack of room.
  void add_unreported(uint64_t unreported) { unreported_ = add_counts(unreported_, unreported); }

  // In the order in which they were started; then forked children.
  std::vector<UnrecordedProgram> unrecorded() const;
  uint64_t unreported() const { return unreported_; }

 private:
  struct Start {
    uint64_t ticks;
    UnrecordedProgram program;
  };
  std::map<uint32_t, std::vector<Start>> starts_;             // by pid
  std::map<uint32_t, std::vector<uint64_t>> early_meetings_;  // connections whose starts have not been reported yet
  std::vector<UnrecordedProgram> forked_;                     // without a start: no connection cancels them
  std::map<uint32_t, bool> unanswered_;                       // and whether they are recorded
  size_t count_ = 0, early_count_ = 0;
  uint64_t unreported_ = 0;
};

// "/bin/busybox (pid 7) was not recorded: it is statically linked".
std::string unrecorded_sentence(const UnrecordedProgram& program);
// "12 programs were not recorded: 7 as they are static, ...".
std::string unrecorded_summary(const std::vector<UnrecordedProgram>& programs, uint64_t unreported);

}  // namespace penna

// SPDX-License-Identifier: MIT
// StartedPrograms: of the programs that recorded processes have started, which were not recorded, and why; and which of
// their forked children.
//
// Why: only who starts a program knows that there was one, and only the recorder knows whom it has met. So starts are
// told (penna_starts in penna/channel.h), and each meeting takes the last start of its process away.
// Invariant: starts and meetings may come in any order; both are untrusted, and memory is bounded.
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
  uint32_t pid = 0;  // 0: not known
  uint32_t why = 0;  // penna_start_why, or kUnanswered
};

class StartedPrograms {
 public:
  // `pid`: as the recorder numbers it; 0: it does not know.
  void told(const penna_start& start, uint32_t pid);
  // The program that this process is has met the recorder, and was there at `ticks`.
  void met(uint32_t pid, uint64_t ticks);
  // This process had gone or given up before the recorder answered it. `is_recorded`: unless it was to become a
  // program, it is.
  void left_unanswered(uint32_t pid, bool is_recorded);
  // Those of which there was no room to tell.
  void add_unreported(uint64_t untold) { unreported_ = add_counts(unreported_, untold); }

  // In the order in which they were started; then forked children.
  std::vector<UnrecordedProgram> unrecorded() const;
  uint64_t untold() const { return unreported_; }

 private:
  struct Start {
    uint64_t ticks;
    UnrecordedProgram program;
  };
  std::map<uint32_t, std::vector<Start>> starts_;             // by pid
  std::map<uint32_t, std::vector<uint64_t>> early_meetings_;  // whose starts have not been told yet
  std::vector<UnrecordedProgram> forked_;                     // they start nothing: no meeting is theirs
  std::map<uint32_t, bool> unanswered_;                       // and whether they are recorded
  size_t count_ = 0, early_count_ = 0;
  uint64_t unreported_ = 0;
};

// "/bin/busybox (pid 7) was not recorded: it is statically linked".
std::string unrecorded_sentence(const UnrecordedProgram& program);
// "12 programs were not recorded: 7 as they are static, ...".
std::string unrecorded_summary(const std::vector<UnrecordedProgram>& programs, uint64_t untold);

}  // namespace penna

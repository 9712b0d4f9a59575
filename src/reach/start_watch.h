// SPDX-License-Identifier: MIT
// StartWatch: in a surgeon, threads of recorded processes that are about to start programs which no dynamic linker
// loads (AloneStarts). Each is traced until its exec; there the program is held, gets the agent, and goes on.
//
// Why traced in advance: nothing of ours is in such a program. Its exec is the last moment at which it can be held
// before its own code.
// Invariant: a thread is traced only between its announcement and its exec; who becomes no program is let go of.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/fd.h"
#include "reach/patients.h"
#include "reach/surgeon.h"

namespace penna {

class StartWatch {
 public:
  // Orders. Numbers are the recorder's names for starts.
  static constexpr char kWatch = 'w';     // pid: of the process; words: number, its thread's id there, is it a child's?
  static constexpr char kRelease = 'r';   // words: number
  static constexpr char kGiveBack = 'g';  // pid
  // What is said, as the first letter; a number follows it, but for kGiveBack's answer.
  static constexpr char kWatched = 'w';  // "w NUMBER TROUBLE": it is traced, or not, and why
  static constexpr char kCame = 'c';     // "c NUMBER PID TROUBLE": it has become a program
  static constexpr char kNothing = 'n';  // "n NUMBER": it has ended, or was released

  explicit StartWatch(Patients patients) : patients_(std::move(patients)) {}
  std::string carry_out(const Surgeon::Order& order);
  void while_idle(int socket);
  void put_all_back() const { patients_.put_all_back(); }

 private:
  std::string watch(const Surgeon::Order& order);
  std::string release(uint64_t number);
  void handle(int socket, pid_t thread, int status);
  void follow_child(int socket, pid_t parent);
  std::string hold(pid_t pid);

  Patients patients_;
  Fd signals_;                        // tells of stops
  std::map<pid_t, uint64_t> starts_;  // by thread: the number of its start
  std::map<pid_t, int> early_;        // children that stopped before we heard of their birth
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// StartWatch: watches, in a surgeon, threads of recorded processes that are about to start programs which no dynamic
// linker loads (StandaloneStarts). Each is traced until its exec; there the program is held, gets the agent, and
// continues.
//
// Why traced in advance: such a program has no code of ours. Its exec is the last moment at which it can be held before
// its own code runs.
// Invariant: a thread is traced only between its announcement and its exec; one that does not exec is released.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/fd.h"
#include "reach/inject/patients.h"
#include "reach/inject/surgeon.h"

namespace penna {

class StartWatch {
 public:
  // Orders. A number is the recorder's name for a start.
  static constexpr char kWatch = 'w';    // pid: of the process; words: number, its thread's id there, is it a child's?
  static constexpr char kRelease = 'r';  // words: number
  static constexpr char kRestore = 'g';  // pid
  // The first letter of each message; a number follows it, except in kRestore's answer.
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
  Fd signals_;                        // reports stops
  std::map<pid_t, uint64_t> starts_;  // by thread: the number of its start
  std::map<pid_t, int> early_;        // children that stopped before their birth was reported
};

}  // namespace penna

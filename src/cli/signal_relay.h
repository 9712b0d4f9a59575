// SPDX-License-Identifier: MIT
// Signals that were meant for the program and came to the recorder, which stands where the program would: its parent's
// child, perhaps the leader of its session.
//
// Invariant: the program gets each signal once. What its process group gets comes to it without us; what we alone get
// is handed on; and when it stops for SIGTSTP, so do we.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"
#include "cli/signals.h"
#include "reach/group_witness.h"

namespace penna {

class SignalRelay {
 public:
  // Call before any thread is started.
  static Result<SignalRelay> start();

  const sigset_t& before() const { return signals_.before(); }  // the mask that the program shall have
  int fd() const { return signals_.fd(); }                      // readable when something has come

  // Hands on to `program`, our child, what has come.
  void hand_on(pid_t program);
  // Whether somebody insists on an end: SIGTERM has come again, or SIGINT to us alone after it. (Any other signal may
  // come again and again to a program that lives on it.) By which, if the program has had half a second to heed it,
  // too; else 0.
  bool insists() const { return insists_ != 0; }
  int outlived() const;
  // After the program has ended: whether a signal asks the recorder to end, too.
  bool told_to_end();
  // Does for the program that has ended what its end would have done had it been started without us: that of a leader
  // hangs up on the processes in the terminal's foreground.
  void hang_up();
  // Before the recorder ends by a signal, and runs no destructors.
  void end() { witness_.end(); }

 private:
  struct Come {
    signalfd_siginfo info;
    bool to_group;
  };
  SignalRelay(Signals signals, GroupWitness witness, bool leads_terminal)
      : signals_(std::move(signals)), witness_(std::move(witness)), leads_terminal_(leads_terminal) {}
  std::vector<Come> take();

  Signals signals_;
  GroupWitness witness_;
  bool leads_terminal_;     // when we were started
  bool told_once_ = false;  // to end, by SIGTERM
  int insists_ = 0;
  uint64_t insists_since_ms_ = 0;
};

}  // namespace penna

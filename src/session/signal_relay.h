// SPDX-License-Identifier: MIT
// Relays signals that were meant for the program but reached the recorder, which is in the program's place: its
// parent's child, perhaps the leader of its session.
//
// Invariant: the program gets each signal once. Signals to its process group reach it without us; those that only we
// receive are forwarded; and when it stops for SIGTSTP, so do we.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"
#include "session/group_witness.h"
#include "session/signals.h"

namespace penna {

class SignalRelay {
 public:
  // Call before any thread is started.
  static Result<SignalRelay> start();

  const sigset_t& before() const { return signals_.before(); }  // the program's mask
  int fd() const { return signals_.fd(); }                      // readable if a signal has arrived

  // Forwards the signals that have arrived to `program`, our child.
  void hand_on(pid_t program);
  // Whether the user insists on an end: SIGTERM has arrived again, or SIGINT to us only after it. (A program may live
  // on any other signal, repeatedly.) outlived(): by which signal, if the program has also had half a second to react;
  // else 0.
  bool insists() const { return insists_ != 0; }
  int outlived() const;
  // After the program has ended: whether a signal asks the recorder to end, too.
  bool end_requested();
  // Performs what the program's end would have caused without us: the end of a session leader hangs up on the processes
  // in the terminal's foreground.
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
  bool leads_terminal_;          // when we were started
  bool was_terminated_ = false;  // SIGTERM has arrived
  int insists_ = 0;
  uint64_t insists_since_ms_ = 0;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// A process in our process group that blocks every signal and tells which of them came.
//
// Why: of a signal that we got, the kernel does not say whether the group got it, and so the program too, or we alone:
// a terminal that hangs up tells the leader of its session alone, kill(1) either. What the witness got, the group got.
// Invariant: it holds no descriptor but its socket, and ends with us, however we end.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <cstdint>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

class GroupWitness {
 public:
  // Forks: call before any thread is started.
  static Result<GroupWitness> start();
  GroupWitness(GroupWitness&& other) noexcept;
  GroupWitness& operator=(GroupWitness&&) = delete;
  ~GroupWitness() { end(); }

  // Asks what has come to the group. All that we got before the call, and that the group got with us, is among it.
  void ask();
  // Whether the group got this signal as often as it was asked about.
  bool saw(int signal);
  // Ends the witness and waits for it; where nothing shall run destructors any more.
  void end();

 private:
  GroupWitness(pid_t pid, Fd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  Fd socket_;
  std::array<uint32_t, NSIG> seen_{};  // and not yet asked about
};

}  // namespace penna

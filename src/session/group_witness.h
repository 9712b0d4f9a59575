// SPDX-License-Identifier: MIT
// A process in our process group that blocks every signal and reports which of them arrived.
//
// Why: the kernel does not say whether a signal that we received went to the whole group, and thus also to the program,
// or only to us: a terminal that hangs up signals its session leader alone, and so may kill(1). What the witness
// received, the group received.
// Invariant: it holds no descriptor except its socket, and ends with us, however we end.
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

  // Asks what the group has received. Includes every signal that we and the group received before the call.
  void ask();
  // Whether the group received this signal, as many times as this was called for it.
  bool saw(int signal);
  // Ends the witness and waits for it; for use where no destructors will run.
  void end();

 private:
  GroupWitness(pid_t pid, Fd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  Fd socket_;
  std::array<uint32_t, NSIG> seen_{};  // received, and not yet matched by saw()
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// Starts a program with the agent preloaded.
//
// Why in two steps: the recording is named after the process and must exist before the program runs.
// Invariant: the program finds signals, descriptors and environment as the recorder was given them, but for LD_PRELOAD
// and PENNA_SOCKET, which the agent takes out again.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

struct LaunchError {
  int exit_code = 0;  // 126: found, cannot be run; 127: not found; 125: our own trouble
  std::string text;   // a sentence
};

// A process that waits to become the program. Destroyed before start(), it ends without having run anything.
class Launch {
 public:
  // `preload`: what LD_PRELOAD is to begin with; empty where nothing can be preloaded. `signals`: the mask that the
  // program shall have. Call before any thread is started.
  static Result<Launch> prepare(const std::vector<std::string>& command, const std::string& preload,
                                const std::string& socket_path, const sigset_t& signals);
  Launch(Launch&&) noexcept = default;
  Launch& operator=(Launch&&) = delete;
  ~Launch();

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // readable when it has ended

  // Lets it become the program. False: it could not, and has been waited for; `error` says why.
  bool start(LaunchError* error);

 private:
  Launch() = default;

  std::string name_;
  pid_t pid_ = -1;
  Fd pidfd_;
  Fd go_;      // writing end: one byte starts the program
  Fd result_;  // reading end: closes when the exec worked, carries errno when it did not
};

}  // namespace penna

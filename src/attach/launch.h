// SPDX-License-Identifier: MIT
// Starts a program with the agent preloaded.
//
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
  int exit_code;     // 126: found, cannot be run; 127: not found; 125: our own trouble
  std::string text;  // a sentence
};

struct Launched {
  pid_t pid = -1;
  Fd pidfd;
};

// `signals`: the mask that the program shall have. Call before any thread is started. On failure `error` is set and
// pid is -1.
Launched launch(const std::vector<std::string>& command, const std::string& agent, const std::string& socket_path,
                const sigset_t& signals, LaunchError* error);

}  // namespace penna

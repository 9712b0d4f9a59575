// SPDX-License-Identifier: MIT
// Carrier: a way for the agent to get into a process. Everything behind it is the same for all of them, because the
// process introduces itself (collect/server.h).
//
// Invariant: a carrier that is destroyed before start() leaves no trace: no process of ours, no change in anybody's.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace penna {

struct CarrierError {
  int exit_code = 0;  // 126: found, cannot be run; 127: not found; 125: our own trouble
  std::string text;   // a sentence
};

class Carrier {
 public:
  virtual ~Carrier() = default;

  virtual pid_t pid() const = 0;
  virtual int pidfd() const = 0;  // readable once the process has ended
  // The process's command line; [0] names its program. Never empty.
  virtual const std::vector<std::string>& command() const = 0;

  // From here on the process runs with the agent in it. Once. False: it does not, and nothing is left to wait for.
  virtual bool start(CarrierError* error) = 0;
  // Blocks until the process has ended. Its wait status. Once.
  virtual int wait() = 0;

 protected:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// Carrier: a way to get the agent into a process. Everything after that is the same for all carriers, because the
// process itself connects to the recorder (collect/server.h).
//
// Invariant: a carrier that is destroyed before start() leaves no trace: no process of ours, no change in anybody
// else's.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace penna {

struct CarrierError {
  int exit_code = 0;  // 126: found, cannot be run; 127: not found; 125: an error of our own
  std::string text;   // one sentence
};

class Carrier {
 public:
  virtual ~Carrier() = default;

  virtual pid_t pid() const = 0;
  virtual int pidfd() const = 0;  // readable once the process has ended
  // Asked when it is readable: more processes than one may be recorded.
  virtual bool has_ended() const { return true; }
  // The command line of the process; [0] names its program. Never empty.
  virtual const std::vector<std::string>& command() const = 0;

  // Whether the process is our child: it then gets the signals meant for it, and we exit with its status. Otherwise it
  // goes on when the recording ends.
  virtual bool is_child() const { return true; }

  // From here on the process runs, with the agent in it. Call once. False: it does not run, and there is nothing to
  // wait for.
  virtual bool start(CarrierError* error) = 0;
  // Blocks until the process has ended, and returns its wait status. Call once.
  virtual int wait() = 0;

 protected:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
};

}  // namespace penna

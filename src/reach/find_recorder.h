// SPDX-License-Identifier: MIT
// Who records a process, and where that recorder is asked (collect/control_server.h).
//
// Invariant: nothing is sent to a socket before it is known to be the recorder's of this very process.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

struct Recorder {
  std::string control;  // path of its socket
  int asked_pid = 0;    // 0: all of its processes
};

// `pid`: a process that is recorded by another one or by itself, one that was forked by such a one, or penna record.
Result<Recorder> find_recorder(int pid);

// A connection to the socket of a recorder.
Result<Fd> connect_to_recorder(const std::string& control);

}  // namespace penna

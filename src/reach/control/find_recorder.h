// SPDX-License-Identifier: MIT
// Finds the recorder of a process, and how to reach it (collect/control/control_server.h).
//
// Invariant: nothing is sent to a socket before it is known to belong to the recorder of this very process.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

struct Recorder {
  std::string control;  // path of its socket
  int asked_pid = 0;    // the process to name in requests; 0: all of its processes
};

// The name of a recorder's process that reads what uprobes report (breakpoint/uprobe_watch.h).
inline constexpr char kUprobeReader[] = "penna-uprobes";

// `pid`: a process that records itself or is recorded by another one, a fork of such a process, or penna record itself.
Result<Recorder> find_recorder(int pid);

// Whether anybody listens at its socket, busy or stopped as it may be; does not wait.
bool is_recorder_at(const std::string& control);

// Connects to a recorder's socket; waits ten seconds at most.
Result<Fd> connect_to_recorder(const std::string& control);

}  // namespace penna

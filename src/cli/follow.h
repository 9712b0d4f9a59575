// SPDX-License-Identifier: MIT
// Waits for the end of what is recorded, whichever carrier brought the agent in, and serves everybody meanwhile: the
// processes, penna ctl, the limit of overhead, and the signals meant for the program.
//
// Invariant: the carrier's process is waited for at most once.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/signal_relay.h"
#include "collect/control_server.h"
#include "collect/doorbell.h"
#include "collect/server.h"
#include "reach/alone_starts.h"
#include "reach/carrier.h"
#include "reach/silencer.h"

namespace penna {

// How the recording came to its end.
struct Outcome {
  int status = 0;        // the process's wait status
  bool hurried = false;  // a signal has told us to stop
  bool goes_on = false;  // the process has not ended: the recording has, by -T FUNC@finish, --duration, or as we were
                         // told to leave a process that is not our child
};

// Who is served meanwhile; all outlive the call.
struct Served {
  Server& server;
  ControlServer& control;
  Silencer* silencer;   // null: no limit was asked for
  AloneStarts* starts;  // null: none are followed
  const Doorbell& doorbell;
  int finished_fd;  // Collector::finished_fd()
  const std::string& socket_path;
  std::optional<std::chrono::steady_clock::time_point> end;  // of the recording
  bool follows = true;                                       // the processes that recorded ones start are recorded, too
};

// Returns when the process and all recorded ones that it has started have ended, or when we are told to stop. The
// status of a process that has outlived what was to end it is as if it had ended by that.
Outcome follow(Carrier& carrier, const Served& served, SignalRelay& signals, bool quiet);

// The recording has ended, and the process has not: it gets its signals until it does. Its status, as of Outcome.
int follow_unrecorded(Carrier& carrier, SignalRelay& signals);

}  // namespace penna

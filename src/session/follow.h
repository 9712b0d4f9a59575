// SPDX-License-Identifier: MIT
// Waits for the end of the recorded processes, with any carrier, and meanwhile serves the processes, penna ctl, the
// overhead limit, and the signals meant for the program.
//
// Invariant: the carrier's process is waited for at most once.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "collect/control/control_server.h"
#include "collect/doorbell.h"
#include "collect/server.h"
#include "reach/carrier.h"
#include "reach/control/silencer.h"
#include "reach/inject/standalone_starts.h"
#include "session/signal_relay.h"

namespace penna {

// How the recording ended.
struct Outcome {
  int status = 0;        // the process's wait status
  bool hurried = false;  // stopped by a signal
  bool goes_on = false;  // the process has not ended: the recording has, by -T FUNC@finish, --duration, or a request
                         // to leave a process that is not our child
};

// Whom to serve meanwhile; all must outlive the call.
struct Served {
  Server& server;
  ControlServer& control;
  Silencer* silencer;        // null: no limit was asked for
  StandaloneStarts* starts;  // null: none are followed
  const Doorbell& doorbell;
  int finished_fd;  // Collector::finished_fd()
  const std::string& socket_path;
  std::optional<std::chrono::steady_clock::time_point> end;  // of the recording
  bool follows = true;                                       // the processes that recorded ones start are recorded, too
};

// Returns when the process and all recorded ones that it has started have ended, or on a stop request. The status of a
// process that has survived the signals to end it is as if they had ended it.
Outcome follow(Carrier& carrier, const Served& served, SignalRelay& signals, bool quiet);

// The recording has ended, and the process has not: it gets its signals until it does. Returns its status, as in
// Outcome.
int follow_unrecorded(Carrier& carrier, SignalRelay& signals);

}  // namespace penna

// SPDX-License-Identifier: MIT
// See follow.h.
#include "session/follow.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <climits>
#include <iterator>
#include <vector>

#include "base/say.h"
#include "collect/arrivals.h"

namespace penna {
namespace {

// How often to check whether a process may still connect, when no other is left.
constexpr int kLookMs = 50;

// Reaps the status, which frees the pid; from here on it must not be signalled.
int reap(Carrier& carrier, SignalRelay& signals) {
  const int status = carrier.wait();
  signals.hang_up();
  return status;
}

// Milliseconds for poll(2), -1: forever; no longer than until `end`. Rounded up: waking just before the end would spin.
int until(const std::optional<std::chrono::steady_clock::time_point>& end, int wait_ms) {
  if (!end) return wait_ms;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - std::chrono::steady_clock::now()).count();
  const int left_ms = static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
  return wait_ms < 0 ? left_ms : std::min(wait_ms, left_ms);
}

// What follow() waits for, in the order of its pollfds.
enum { kServer, kSignals, kProcess, kControl, kSilencer, kArrival, kFinished, kStarts, kWaitedFor };

}  // namespace

// One loop for all states. It waits first for the carrier's process (`running`), then for the processes that it left
// behind, then for those seen to be about to connect (`alone`), until none is left.
Outcome follow(Carrier& carrier, const Served& served, SignalRelay& signals, bool quiet) {
  Server& server = served.server;
  int status = 0;
  bool running = true, end_is_due = false;
  for (;;) {
    const bool alone = !running && server.living() == 0 && (served.starts == nullptr || !served.starts->is_busy());
    std::vector<Fd> arrivals;
    // A child may have been forked and not have met us yet. The doorbell counts how many are
    // expected; a process that holds it open is one of them.
    if (alone && served.follows && served.doorbell.expected() != 0)
      arrivals =
          find_arrivals(served.socket_path, served.doorbell.fd(), [&](uint32_t pid) { return server.is_living(pid); });
    if (alone && arrivals.empty()) return {status};
    // A negative descriptor is ignored by poll(2).
    pollfd fds[kWaitedFor] = {{server.fd(), POLLIN, 0},
                              {signals.fd(), POLLIN, 0},
                              {running ? carrier.pidfd() : -1, POLLIN, 0},
                              {served.control.fd(), POLLIN, 0},
                              {served.silencer != nullptr ? served.silencer->fd() : -1, POLLIN, 0},
                              {alone ? arrivals.front().get() : -1, POLLIN, 0},
                              {served.finished_fd, POLLIN, 0},
                              {served.starts != nullptr ? served.starts->fd() : -1, POLLIN, 0}};
    int ready = ::poll(fds, std::size(fds),
                       until(served.end, alone || (running && signals.insists()) ? kLookMs
                                         : running || end_is_due                 ? -1
                                                                                 : 1000));
    // Printed once, after a second without events: most of a program's children end with it.
    const size_t outliving = ready == 0 && !running && !end_is_due && !alone ? server.living_pids().size() : 0;
    if (outliving != 0) {
      end_is_due = true;
      if (!quiet)
        say(fmt::format(
            "the {} has ended, but {} of its processes still run and are recorded; Ctrl-C stops the recording",
            carrier.is_child() ? "command" : "process", outliving));
    }
    // The server first, whatever woke us: an arrival must be in living() before its parent's end is seen.
    server.work();
    if (served.starts != nullptr) served.starts->work();
    if ((fds[kControl].revents & POLLIN) != 0) served.control.work();
    if (served.control.stop_requested()) return {status, !running, running};
    if (served.silencer != nullptr && (fds[kSilencer].revents & POLLIN) != 0) served.silencer->work();
    // Signals are the program's while it is our child. Otherwise Ctrl-C is for us.
    if (running && carrier.is_child())
      signals.hand_on(carrier.pid());
    else if (signals.end_requested())
      return {status, !running, running};
    if (served.end && std::chrono::steady_clock::now() >= *served.end) return {status, !running, running};
    if (running && (fds[kProcess].revents & POLLIN) != 0 && carrier.has_ended()) {
      server.work();  // reads how it ended, before the wait below reaps it
      status = reap(carrier, signals);
      running = false;
    }
    if ((fds[kFinished].revents & POLLIN) != 0) return {status, false, running};
    // The user insists on the end, and the program has survived the signals: we end as if it had ended, and let it run.
    if (const int outlived = running ? signals.outlived() : 0; outlived != 0) {
      if (!quiet) say("the command survived the signals sent to end it: it keeps running, unrecorded");
      return {outlived, true};
    }
  }
}

int follow_unrecorded(Carrier& carrier, SignalRelay& signals) {
  for (;;) {
    pollfd fds[] = {{signals.fd(), POLLIN, 0}, {carrier.pidfd(), POLLIN, 0}};
    (void)::poll(fds, std::size(fds), signals.insists() ? kLookMs : -1);
    signals.hand_on(carrier.pid());
    if ((fds[1].revents & POLLIN) != 0) return reap(carrier, signals);
    if (const int outlived = signals.outlived(); outlived != 0) return outlived;
  }
}

}  // namespace penna

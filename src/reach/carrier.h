// SPDX-License-Identifier: MIT
// Carrier: a way to get the agent into a process. Everything after that is the same for all carriers, because the
// process itself connects to the recorder (collect/server.h).
//
// Invariant: a carrier that is destroyed before start() leaves no trace: no process of ours, no change in any other.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace penna {

struct RemoteCode;  // reach/process/remote_call.h

struct CarrierError {
  int exit_code = 0;  // 126: found, cannot be run; 127: not found; 125: an error of our own
  std::string text;   // one sentence
};

// The result of leaving processes.
struct Restored {
  // As of the processes of both.
  void add(const Restored& other) {
    places += other.places;
    modules = std::max(modules, other.modules);
    kept += other.kept;
    waiting += other.waiting;
    other_programs += other.other_programs;
    stopped_ns = std::max(stopped_ns, other.stopped_ns);
    if (trouble.empty()) trouble = other.trouble;
    notes.insert(notes.end(), other.notes.begin(), other.notes.end());
  }

  uint64_t places = 0, modules = 0;
  uint64_t kept = 0;               // places that something else has changed since
  uint64_t waiting = 0;            // places that stay as long as threads wait in functions that were entered
  uint64_t other_programs = 0;     // by exec: we changed nothing in them
  uint64_t stopped_ns = 0;         // longest time for which all threads of a process were stopped; 0: unknown
  std::string trouble;             // a sentence; empty: no trouble
  std::vector<std::string> notes;  // what could not be recorded, in sentences
};

class Carrier {
 public:
  virtual ~Carrier() = default;

  virtual pid_t pid() const = 0;
  virtual int pidfd() const = 0;  // readable once the process has ended
  // Queried when it is readable: more than one process may be recorded.
  virtual bool has_ended() const { return true; }
  // The command line of the process; [0] names its program. Never empty.
  virtual const std::vector<std::string>& command() const = 0;

  // Whether the process is our child: it then gets the signals meant for it, and we exit with its status. Otherwise it
  // continues when the recording ends.
  virtual bool is_child() const { return true; }

  // `serve` is called repeatedly while start() and leave() wait for a process, which may in turn wait for its recorder:
  // it must answer that process, and return soon; at once when `also` becomes readable. Call before start().
  using Serve = std::function<void(int also)>;
  void serve_by(Serve serve) { serve_ = std::move(serve); }
  // One of our processes that introduces others to the recorder; 0: they do it themselves.
  virtual pid_t introducer() const { return 0; }
  // What records in place of an agent, in the plural: "breakpoints". Null: an agent.
  virtual const char* instead_of_agent() const { return nullptr; }

  // From here on the process runs, with the agent in it. Call once. False: it does not run, and there is nothing to
  // wait for.
  virtual bool start(CarrierError* error) = 0;
  // After start(): the reason for each process that is not recorded, as a sentence.
  const std::vector<std::string>& refused() const { return refused_; }
  // Makes a thread of a recorded process execute the agent's code, for penna ctl and --max-overhead. From any thread.
  virtual Result<> call(pid_t pid, const RemoteCode& code) const = 0;
  // Blocks until the process has ended, and returns its wait status. Call once.
  virtual int wait() = 0;
  // The recording has ended: restores the recorded processes that keep running. Call once. `living`: returns these;
  // queried repeatedly, because some may fork meanwhile.
  using Living = std::function<std::vector<uint32_t>()>;
  virtual Restored leave(const Living& /*living*/) { return {}; }
  // Whether the user is told how that went.
  virtual bool reports_leaving() const { return !is_child(); }

 protected:
  Carrier() = default;
  Serve serve_;
  std::vector<std::string> refused_;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
};

}  // namespace penna

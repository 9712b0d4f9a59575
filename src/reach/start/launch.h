// SPDX-License-Identifier: MIT
// The carrier of penna record CMD: starts a program with the agent preloaded.
//
// Why in two steps: the recording is named after the process and must exist before the program runs.
// Invariant: the program gets signals, descriptors and environment as the recorder was given them, except for
// LD_PRELOAD and PENNA_SOCKET, which the agent removes again.
#pragma once

#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "reach/carrier.h"

namespace penna {

// A process that waits to become the program. If this is destroyed before start(), the process ends without running
// anything.
class Launch : public Carrier {
 public:
  // `preload`: how LD_PRELOAD is to begin; empty if nothing can be preloaded. `signals`: the program's signal mask.
  // Call before any thread is started.
  static Result<std::unique_ptr<Launch>> prepare(const std::vector<std::string>& command, const std::string& preload,
                                                 const std::string& socket_path, const sigset_t& signals);
  ~Launch() override;

  // Before it begins: lets this process of ours trace it, too, where only ancestors may (Yama's ptrace_scope 1).
  void allow_tracer(pid_t tracer) const;
  // start() in two steps, for a caller that stops it in between: begin, then check whether it has become the program.
  void begin();
  bool has_begun(CarrierError* error);

  pid_t pid() const override { return pid_; }
  int pidfd() const override { return pidfd_.get(); }
  const std::vector<std::string>& command() const override { return command_; }
  bool start(CarrierError* error) override { return begin(), has_begun(error); }
  int wait() override;
  Result<> call(pid_t pid, const RemoteCode& code) const override;

 private:
  Launch() = default;

  std::vector<std::string> command_;
  pid_t pid_ = -1;
  Fd pidfd_;
  Fd go_;      // write end: pids that may trace it; 0 starts the program
  Fd result_;  // read end: closed when the exec succeeded, carries errno if it failed
};

}  // namespace penna

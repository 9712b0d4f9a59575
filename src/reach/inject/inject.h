// SPDX-License-Identifier: MIT
// The carrier of penna record -p: loads the agent into running processes, and removes it again. Also into programs that
// we start and that no dynamic linker loads: these are held at their start until the agent is in.
//
// How: see patients.h. A surgeon does all of it (surgeon.h), so that nothing is left half done if we die.
// Invariant: the processes are never signalled and never ended.
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "reach/carrier.h"
#include "reach/inject/patients.h"
#include "reach/inject/surgeon.h"
#include "reach/process/remote_call.h"
#include "reach/start/launch.h"

namespace penna {

class Inject : public Carrier {
 public:
  // `agent`: path of the library. Processes that have ended by now are listed by refused(). Error: all have.
  static Result<std::unique_ptr<Inject>> prepare(const std::vector<pid_t>& pids, const std::string& agent,
                                                 const std::string& socket_path,
                                                 InjectUntil until = InjectUntil::kWritten);
  // Starts a program that no dynamic linker loads. `signals`: its signal mask.
  static Result<std::unique_ptr<Inject>> launch(const std::vector<std::string>& command, const std::string& agent,
                                                const std::string& socket_path, const sigset_t& signals);

  // Those of the first process that is recorded, or will be.
  pid_t pid() const override { return processes_.front().pid; }
  const std::vector<std::string>& command() const override { return processes_.front().command; }
  // Of the first that has not ended.
  int pidfd() const override;
  bool has_ended() const override;  // all
  bool is_child() const override { return launched_ != nullptr; }
  // Into as many as possible; false: into none. A program that we start runs even without the agent.
  bool start(CarrierError* error) override;
  // For processes that are not our children: 0.
  int wait() override;
  // The processes, and those that they have forked since. The agents there no longer record.
  Restored leave(const Living& living) override;
  bool reports_leaving() const override { return true; }
  // By the surgeon: if we are killed meanwhile, the process continues unharmed.
  Result<> call(pid_t pid, const RemoteCode& code) const override;

 private:
  struct Process {
    pid_t pid = -1;
    Fd pidfd;
    std::vector<std::string> command;
  };

  explicit Inject(Patients patients) : patients_(std::move(patients)) {}
  Result<> start_surgeon();
  bool start_program(CarrierError* error);
  std::string carry_out(const Surgeon::Order& order);  // in the surgeon
  Result<Restored> restore(pid_t pid) const;

  std::vector<Process> processes_;    // never empty
  Patients patients_;                 // the surgeon's
  std::unique_ptr<Launch> launched_;  // null: the processes existed before
  std::optional<Surgeon> surgeon_;
};

}  // namespace penna

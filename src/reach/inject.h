// SPDX-License-Identifier: MIT
// The carrier of penna record -p: loads the agent into running processes, and removes it again. Also into programs that
// we start and that no dynamic linker loads: these are held at their start until the agent is in.
//
// How: the agent arrives as a memfd, so that the process needs no file of ours. One of its threads, wherever it was,
// makes the few system calls that start a guest thread (guest.h), which loads the agent and lets it connect to us; then
// every thread is stopped for the moment in which the agent's planned changes are written (journal.h). A surgeon
// (surgeon.h) does all of that, so that our death leaves nothing half done.
// Invariant: until the guest runs, nothing has changed in the process except memory and a descriptor of its own; from
// then on the journal lists the changes. The process is never signalled and never killed.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "reach/carrier.h"
#include "reach/journal.h"
#include "reach/launch.h"
#include "reach/remote_call.h"
#include "reach/surgeon.h"

namespace penna {

// How far start() goes.
enum class InjectUntil : uint8_t {
  kPlanned,  // the agent is loaded and has noted its changes: nothing is recorded, nothing has to be left
  kWritten,
};

class Inject : public Carrier {
 public:
  // `agent`: path of the library. Processes that have ended by now are listed by refused(). Error: all have.
  static Result<std::unique_ptr<Inject>> prepare(const std::vector<pid_t>& pids, const std::string& agent,
                                                 const std::string& socket_path,
                                                 InjectUntil until = InjectUntil::kWritten);
  // Starts a program that no dynamic linker loads. `signals`: its signal mask.
  static Result<std::unique_ptr<Inject>> launch(const std::vector<std::string>& command, const std::string& agent,
                                                const std::string& socket_path, const sigset_t& signals);

  // Those of the first process that is recorded, or is to be.
  pid_t pid() const override { return patients_.front().pid; }
  const std::vector<std::string>& command() const override { return patients_.front().command; }
  // The first that has not ended.
  int pidfd() const override;
  bool has_ended() const override;  // all
  bool is_child() const override { return launched_ != nullptr; }
  // Into as many as possible; false: into none. A program that we start runs even without the agent.
  bool start(CarrierError* error) override;
  // For processes that are not our children: 0.
  int wait() override;
  // The processes, and those that they have forked since. The agents there no longer record.
  Restored leave(const Living& living) override;

  // After start(): the reason for each process that is not recorded, as a sentence.
  const std::vector<std::string>& refused() const { return refused_; }
  // Like call_in(), by the surgeon: if we are killed meanwhile, the process continues unharmed.
  Result<> call(pid_t pid, const RemoteCode& code) const;

 private:
  struct Patient {
    pid_t pid = -1;
    Fd pidfd;
    std::vector<std::string> command;
    Fd turn;                         // held in the surgeon, as is
    std::optional<Journal> journal;  // in the surgeon, once the guest is there
  };

  Inject() = default;
  Result<> start_surgeon();
  bool start_program(CarrierError* error);
  // In the surgeon:
  std::string carry_out(const Surgeon::Order& order);
  std::string bring_in_first(Patient& patient);
  std::string bring_in_held(Patient& patient);
  std::string bring_in(Patient& patient);
  std::optional<Journal> journal_of(pid_t pid) const;
  void put_back_family(pid_t pid, Restored* all) const;
  void put_all_back() const;
  Result<Restored> give_back(pid_t pid) const;

  std::vector<Patient> patients_;  // never empty
  std::string agent_, socket_path_;
  InjectUntil until_ = InjectUntil::kWritten;
  std::vector<std::string> refused_;
  std::unique_ptr<Launch> launched_;  // null: the processes existed before
  std::optional<Surgeon> surgeon_;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// The carrier of penna record -p: brings the agent into processes that run, and takes it out again. Also of programs
// that we start and that no dynamic linker loads: these are held at their beginning until the agent has come.
//
// How: the agent comes as a memfd, so that the process needs no file of ours. One of its threads, wherever it was,
// makes the few system calls that start a guest thread (guest.h), which loads the agent and lets it meet us; then every
// thread is stopped for the moment in which what the agent has planned is written (journal.h).
// All of that does a surgeon (surgeon.h), so that our death leaves nothing half done.
// Invariant: until the guest runs, nothing has changed in the process but memory and a descriptor of its own; from then
// on the journal says what has. The process is never signalled and never ended.
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
  kPlanned,  // the agent has come, and has noted what it wants changed: nothing is recorded, nothing to be left
  kWritten,
};

class Inject : public Carrier {
 public:
  // `agent`: path of the library. Of processes that have ended by now, refused() tells. Error: all have.
  static Result<std::unique_ptr<Inject>> prepare(const std::vector<pid_t>& pids, const std::string& agent,
                                                 const std::string& socket_path,
                                                 InjectUntil until = InjectUntil::kWritten);
  // Starts a program that no dynamic linker loads. `signals`: the mask that it shall have.
  static Result<std::unique_ptr<Inject>> launch(const std::vector<std::string>& command, const std::string& agent,
                                                const std::string& socket_path, const sigset_t& signals);

  // Those of the first that is recorded, or shall be.
  pid_t pid() const override { return patients_.front().pid; }
  const std::vector<std::string>& command() const override { return patients_.front().command; }
  // Of the first that has not ended.
  int pidfd() const override;
  bool has_ended() const override;  // all
  bool is_child() const override { return launched_ != nullptr; }
  // Into as many as possible; false: into none. A program that we start runs also without.
  bool start(CarrierError* error) override;
  // Of processes that are not our children: 0.
  int wait() override;
  // The processes, and those that they have forked since. The agents there record nothing any more.
  Restored leave(const Living& living) override;

  // After start(): of those that are not recorded, why, each a sentence.
  const std::vector<std::string>& refused() const { return refused_; }
  // As call_in(), by the surgeon: if we are killed meanwhile, the process goes on as it was.
  Result<> call(pid_t pid, const RemoteCode& code) const;

 private:
  struct Patient {
    pid_t pid = -1;
    Fd pidfd;
    std::vector<std::string> command;
    Fd turn;                         // the surgeon's, as is
    std::optional<Journal> journal;  // the surgeon's, once the guest has come
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
  std::unique_ptr<Launch> launched_;  // null: the processes were there
  std::optional<Surgeon> surgeon_;
};

}  // namespace penna

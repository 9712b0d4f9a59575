// SPDX-License-Identifier: MIT
// The carrier of penna record -p: brings the agent into a process that runs, and takes it out again.
//
// How: the agent comes as a memfd, so that the process needs no file of ours. One of its threads, wherever it was,
// makes the few system calls that start a guest thread (guest.h), which loads the agent and lets it meet us; then every
// thread is stopped for the moment in which what the agent has planned is written (journal.h).
// All of that does a surgeon (surgeon.h), so that our death leaves nothing half done.
// Invariant: until the guest runs, nothing has changed in the process but memory and a descriptor of its own; from then
// on the journal says what has. The process, which is no child of ours, is never signalled and never ended.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "reach/carrier.h"
#include "reach/journal.h"
#include "reach/surgeon.h"

namespace penna {

class Inject : public Carrier {
 public:
  // `agent`: path of the library. `serve`: called again and again while the agent comes in, on the thread of start():
  // it must let the process meet its recorder, and return soon.
  static Result<std::unique_ptr<Inject>> prepare(pid_t pid, const std::string& agent, const std::string& socket_path);
  void serve_by(std::function<void()> serve) { serve_ = std::move(serve); }

  pid_t pid() const override { return pid_; }
  int pidfd() const override { return pidfd_.get(); }
  const std::vector<std::string>& command() const override { return command_; }
  bool is_child() const override { return false; }
  bool start(CarrierError* error) override;
  // Not our child: 0.
  int wait() override;

  // Gives back the process, or one that it has forked since. The agent there records nothing any more.
  Result<Restored> give_back(pid_t pid) const;

 private:
  Inject() = default;
  // In the surgeon:
  std::string carry_out(char order, pid_t pid);
  std::string bring_in();
  void put_all_back() const;

  pid_t pid_ = -1;
  Fd pidfd_;
  std::vector<std::string> command_;
  std::string agent_, socket_path_;
  std::function<void()> serve_;
  std::optional<Surgeon> surgeon_;
  Fd turn_;                         // the surgeon's, as is
  std::optional<Journal> journal_;  // the surgeon's, once the guest has come
};

}  // namespace penna

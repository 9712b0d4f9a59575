// SPDX-License-Identifier: MIT
// The carrier for programs that cannot have an agent: a guardian traces them and records them by breakpoints, or a
// watch reads what the kernel's uprobes report.
//
// Why a separate process: an unhandled breakpoint kills the program. The guardian outlives us, restores every byte, and
// detaches (surgeon.h). The watch must read events while the recorder does other things.
// Invariant: if start() fails, nothing of ours is left in the process.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "breakpoint/guardian_plan.h"
#include "reach/carrier.h"
#include "reach/inject/surgeon.h"
#include "reach/start/launch.h"

namespace penna {

class BreakpointCarrier : public Carrier {
 public:
  enum class By : uint8_t { kBreakpoints, kUprobes };
  // A running process.
  static Result<std::unique_ptr<Carrier>> attach(pid_t pid, By by, GuardianPlan plan);
  // Starts one. `signals`: its signal mask.
  static Result<std::unique_ptr<Carrier>> launch(const std::vector<std::string>& command, By by, GuardianPlan plan,
                                                 const sigset_t& signals);

  pid_t pid() const override { return launched_ ? launched_->pid() : pid_; }
  int pidfd() const override { return launched_ ? launched_->pidfd() : pidfd_.get(); }
  const std::vector<std::string>& command() const override { return launched_ ? launched_->command() : command_; }
  bool is_child() const override { return launched_ != nullptr; }
  pid_t introducer() const override { return surgeon_->pid(); }
  const char* instead_of_agent() const override { return by_ == By::kUprobes ? "uprobes" : "breakpoints"; }
  bool start(CarrierError* error) override;
  bool has_ended() const override;
  int wait() override;
  Restored leave(const Living& living) override;
  Result<> call(pid_t pid, const RemoteCode& code) const override;  // always an error: there is no agent

 private:
  explicit BreakpointCarrier(By by) : by_(by) {}
  Result<> start_surgeon(GuardianPlan plan);
  bool start_by_uprobes(CarrierError* error);
  std::string request(char what) const;

  By by_;
  std::vector<std::string> troubles_;  // why a program that was started is not recorded

  // For a process that we have attached to; a launched one has its own in launched_.
  pid_t pid_ = -1;
  Fd pidfd_;
  std::vector<std::string> command_;
  std::unique_ptr<Launch> launched_;  // null: attached to
  // Set once attach() or launch() has succeeded.
  std::optional<Surgeon> surgeon_;
};

}  // namespace penna

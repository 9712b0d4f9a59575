// SPDX-License-Identifier: MIT
// See breakpoint_carrier.h.
#include "breakpoint/breakpoint_carrier.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "base/command_line.h"
#include "breakpoint/guardian.h"

namespace penna {
namespace {

constexpr char kAwait = 'w', kAttach = 'a', kLeave = 'l';  // orders

// The guardian's answer to kLeave: numbers, and a line for each note.
std::string text_of(const Guardian::Left& left) {
  return fmt::format("{} {} {}\n{}", left.places, left.modules, left.kept, fmt::join(left.notes, "\n"));
}

Result<Restored> parse_left(const std::string& text) {
  std::istringstream lines(text);
  Restored restored;
  if (!(lines >> restored.places >> restored.modules >> restored.kept)) return Error{text};
  std::string line;
  // Skips the rest of the line of numbers.
  std::getline(lines, line);
  while (std::getline(lines, line))
    if (!line.empty()) restored.notes.push_back(line);
  return restored;
}

}  // namespace

// Forked from us, so it has everything that the plan refers to.
Result<> BreakpointCarrier::start_guardian(GuardianPlan plan) {
  // The fork duplicates it: ours is destroyed when this function returns, the child's lives as long as the child.
  const auto guardian = std::make_shared<Guardian>(std::move(plan));
  surgeon_.emplace(PENNA_TRY(
      Surgeon::start({[guardian](const Surgeon::Order& order) {
                        if (order.what == kAwait) return guardian->await_program(order.pid);
                        if (order.what == kAttach) return guardian->attach(order.pid);
                        return text_of(guardian->leave());
                      },
                      [guardian] { guardian->leave(); }, [guardian](int socket) { guardian->work(socket); }})));
  return ok();
}

Result<std::unique_ptr<Carrier>> BreakpointCarrier::attach(pid_t pid, GuardianPlan plan) {
  std::unique_ptr<BreakpointCarrier> carrier(new BreakpointCarrier);
  carrier->pid_ = pid;
  carrier->pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!carrier->pidfd_) return Error{fmt::format("there is no process {}", pid)};
  carrier->command_ = command_of(static_cast<uint32_t>(pid));
  if (carrier->command_.empty() || carrier->command_[0].empty())
    carrier->command_.assign(1, comm_of(static_cast<uint32_t>(pid)));
  PENNA_TRY(carrier->start_guardian(std::move(plan)));
  return std::unique_ptr<Carrier>(std::move(carrier));
}

Result<std::unique_ptr<Carrier>> BreakpointCarrier::launch(const std::vector<std::string>& command, GuardianPlan plan,
                                                           const sigset_t& signals) {
  std::unique_ptr<BreakpointCarrier> carrier(new BreakpointCarrier);
  carrier->launched_ = PENNA_TRY(Launch::prepare(command, "", plan.socket_path, signals));
  PENNA_TRY(carrier->start_guardian(std::move(plan)));
  carrier->launched_->allow_tracer(carrier->surgeon_->pid());
  return std::unique_ptr<Carrier>(std::move(carrier));
}

bool BreakpointCarrier::start(CarrierError* error) {
  constexpr int kOurTrouble = 125;
  // Traced before it is released: the exec that makes it the program is the first event that the guardian sees.
  const auto trouble = surgeon_->tell({launched_ ? kAwait : kAttach, pid(), {}}, serve_);
  if (!trouble || !trouble->empty()) {
    *error = {kOurTrouble, trouble ? *trouble : trouble.error().text};
    return false;
  }
  return !launched_ || launched_->start(error);
}

int BreakpointCarrier::wait() {
  if (launched_) return launched_->wait();
  pollfd ended{pidfd_.get(), POLLIN, 0};
  while (::poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  return 0;
}

Restored BreakpointCarrier::leave(const Living& /*living*/) {
  // Forked processes may still be introduced meanwhile: the recorder must answer.
  const auto answer = surgeon_->tell({kLeave, pid(), {}}, serve_);
  auto restored = answer ? parse_left(*answer) : Result<Restored>(answer.error());
  if (restored) return std::move(*restored);
  Restored none;
  none.trouble = restored.error().text;
  return none;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See breakpoint_carrier.h.
#include "breakpoint/breakpoint_carrier.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "base/command_line.h"
#include "base/readable.h"
#include "breakpoint/guardian.h"
#include "breakpoint/uprobe_watch.h"
#include "reach/start/held_start.h"

namespace penna {
namespace {

constexpr char kAwait = 'w', kAttach = 'a', kHold = 'h', kLeave = 'l';  // orders; kHold: only for uprobes
constexpr int kOurTrouble = 125;

// The guardian's answer to kLeave: numbers, and a line for each note.
std::string text_of(const LeftPlaces& left) {
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

// Forked from us, so either has everything that the plan refers to. The fork duplicates it: ours is destroyed when
// start_surgeon() returns, the child's lives as long as the child.
Surgeon::Work work_of_guardian(GuardianPlan plan) {
  const auto guardian = std::make_shared<Guardian>(std::move(plan));
  return {[guardian](const Surgeon::Order& order) {
            if (order.what == kAwait) return guardian->await_program(order.pid);
            if (order.what == kAttach) return guardian->attach(order.pid);
            return text_of(guardian->leave());
          },
          [guardian] { guardian->leave(); }, [guardian](int socket) { guardian->work(socket); }};
}

// A program that we start is held until its uprobes are set. If that fails, it runs unrecorded.
Surgeon::Work work_of_watch(GuardianPlan plan) {
  const auto watch = std::make_shared<UprobeWatch>(std::move(plan));
  return {[watch](const Surgeon::Order& order) -> std::string {
            if (order.what == kAwait) {
              const auto watched = HeldStart::watch(order.pid);
              return watched ? "" : watched.error().text;
            }
            if (order.what == kAttach) return watch->attach(order.pid);
            if (order.what != kHold) return text_of(watch->leave());
            const auto held = HeldStart::hold(order.pid, HeldStart::Place::kEntry);
            if (!held) return fmt::format("process {} {}", order.pid, held.error().text);
            std::string trouble = watch->attach(order.pid);
            (void)held->let_go();
            return trouble;
          },
          [] {}, [watch](int socket) { watch->work(socket); }};
}

}  // namespace

Result<> BreakpointCarrier::start_surgeon(GuardianPlan plan) {
  surgeon_.emplace(PENNA_TRY(
      Surgeon::start(by_ == By::kUprobes ? work_of_watch(std::move(plan)) : work_of_guardian(std::move(plan)))));
  return ok();
}

Result<std::unique_ptr<Carrier>> BreakpointCarrier::attach(pid_t pid, By by, GuardianPlan plan) {
  std::unique_ptr<BreakpointCarrier> carrier(new BreakpointCarrier(by));
  carrier->pid_ = pid;
  carrier->pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!carrier->pidfd_) return Error{fmt::format("there is no process {}", pid)};
  carrier->command_ = command_of(static_cast<uint32_t>(pid));
  if (carrier->command_.empty() || carrier->command_[0].empty())
    carrier->command_.assign(1, comm_of(static_cast<uint32_t>(pid)));
  PENNA_TRY(carrier->start_surgeon(std::move(plan)));
  return std::unique_ptr<Carrier>(std::move(carrier));
}

Result<std::unique_ptr<Carrier>> BreakpointCarrier::launch(const std::vector<std::string>& command, By by,
                                                           GuardianPlan plan, const sigset_t& signals) {
  std::unique_ptr<BreakpointCarrier> carrier(new BreakpointCarrier(by));
  carrier->launched_ = PENNA_TRY(Launch::prepare(command, "", plan.socket_path, signals));
  PENNA_TRY(carrier->start_surgeon(std::move(plan)));
  carrier->launched_->allow_tracer(carrier->surgeon_->pid());
  return std::unique_ptr<Carrier>(std::move(carrier));
}

std::string BreakpointCarrier::request(char what) const {
  const auto trouble = surgeon_->request({what, pid(), {}}, serve_);
  return trouble ? *trouble : trouble.error().text;
}

bool BreakpointCarrier::start(CarrierError* error) {
  if (launched_ && by_ == By::kUprobes) return start_by_uprobes(error);
  // Traced before it is released: the exec that makes it the program is the first event that the guardian sees.
  if (const std::string trouble = request(launched_ ? kAwait : kAttach); !trouble.empty())
    return *error = {kOurTrouble, trouble}, false;
  return !launched_ || launched_->start(error);
}

// The program runs even if it cannot be recorded; the reason is given at the end.
bool BreakpointCarrier::start_by_uprobes(CarrierError* error) {
  std::string trouble = request(kAwait);
  if (!trouble.empty()) return *error = {kOurTrouble, trouble}, false;
  launched_->begin();
  trouble = request(kHold);
  if (!launched_->has_begun(error)) return false;
  if (!trouble.empty()) troubles_.push_back(std::move(trouble));
  return true;
}

// The status of our child comes to us only once its tracer has taken it. The guardian may be waiting for our answer
// about another process at that moment, so we must not wait for the status.
bool BreakpointCarrier::has_ended() const {
  constexpr useconds_t kPauseUs = 200;  // the caller asks again at once
  siginfo_t ended{};
  if (!launched_ || ::waitid(P_PID, static_cast<id_t>(launched_->pid()), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      ended.si_pid != 0)
    return true;
  ::usleep(kPauseUs);
  return false;
}

int BreakpointCarrier::wait() {
  if (launched_) return launched_->wait();
  while (!is_readable(pidfd_.get(), -1)) {
  }
  return 0;
}

Restored BreakpointCarrier::leave(const Living& /*living*/) {
  // Forked processes may still be introduced meanwhile: the recorder must answer.
  const auto answer = surgeon_->request({kLeave, pid(), {}}, serve_);
  auto restored = answer ? parse_left(*answer) : Result<Restored>(answer.error());
  if (restored) {
    restored->notes.insert(restored->notes.begin(), troubles_.begin(), troubles_.end());
    return std::move(*restored);
  }
  Restored none;
  none.trouble = restored.error().text;
  return none;
}

Result<> BreakpointCarrier::call(pid_t pid, const RemoteCode& /*code*/) const {
  return Error{
      fmt::format("process {} is recorded by {}, which record all of its points: penna ctl {} off -k points "
                  "leaves all of them out",
                  pid, instead_of_agent(), pid)};
}

}  // namespace penna

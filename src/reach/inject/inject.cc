// SPDX-License-Identifier: MIT
// See inject.h.
#include "reach/inject/inject.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/command_line.h"
#include "base/readable.h"
#include "reach/start/held_start.h"

namespace penna {
namespace {

constexpr char kWatch = 'w', kBringIn = 'b', kRestore = 'g', kCall = 'c';  // orders

// Never empty.
std::vector<std::string> name_of(pid_t pid) {
  std::vector<std::string> command = command_of(static_cast<uint32_t>(pid));
  if (command.empty() || command[0].empty()) {
    const std::string name = comm_of(static_cast<uint32_t>(pid));
    command.assign(1, !name.empty() ? name : "process");
  }
  return command;
}

}  // namespace

Result<std::unique_ptr<Inject>> Inject::prepare(const std::vector<pid_t>& pids, const std::string& agent,
                                                const std::string& socket_path, InjectUntil until) {
  std::unique_ptr<Inject> inject(new Inject(Patients(agent, socket_path, until)));
  for (const pid_t pid : pids) {
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (pidfd)
      inject->processes_.push_back({pid, std::move(pidfd), name_of(pid)});
    else
      inject->refused_.push_back(fmt::format("there is no process {}", pid));
  }
  if (inject->processes_.empty()) return Error{inject->refused_.back()};
  return inject;
}

Result<std::unique_ptr<Inject>> Inject::launch(const std::vector<std::string>& command, const std::string& agent,
                                               const std::string& socket_path, const sigset_t& signals) {
  std::unique_ptr<Inject> inject(new Inject(Patients(agent, socket_path)));
  inject->launched_ = PENNA_TRY(Launch::prepare(command, "", socket_path, signals));
  inject->processes_.push_back({inject->launched_->pid(), {}, command});
  PENNA_TRY(inject->start_surgeon());
  inject->launched_->allow_tracer(inject->surgeon_->pid());
  return inject;
}

// The surgeon's answer: numbers for a process that was restored; else a sentence, or nothing.
std::string Inject::carry_out(const Surgeon::Order& order) {
  if (order.what == kWatch) {
    const auto watched = HeldStart::watch(order.pid);
    return watched ? "" : watched.error().text;
  }
  if (order.what == kBringIn && !launched_) return patients_.bring_in(order.pid);
  if (order.what == kBringIn) {
    // If we are killed meanwhile, the surgeon finishes this before it notices.
    const auto held = HeldStart::hold(order.pid);
    if (!held) return fmt::format("process {} {}", order.pid, held.error().text);
    std::string trouble = patients_.bring_in(order.pid);
    if (!held->let_go() && trouble.empty()) trouble = fmt::format("process {} has ended", order.pid);
    return trouble;
  }
  if (order.what == kCall) {
    const auto& [entry, end, stack, channel] = order.words;
    const auto called = call_in(order.pid, {CodePtr(entry), CodePtr(end), RemoteBytes(stack),
                                            static_cast<ino_t>(channel), patients_.finisher_in(order.pid)});
    return called ? "" : called.error().text;
  }
  return patients_.restore(order.pid);
}

// In the surgeon, until an order arrives: a thread that has ended while we traced it, and with it its process, is only
// gone once we have waited for it. Its exit status still goes to its parent. A stop stays for the order that waits for
// it: waitid() takes those of traced threads even if asked for ends only, hence WNOWAIT.
static void note_ends(int socket) {
  constexpr int kLookAgainMs = 10;
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) return;  // there is none
    if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) {
      (void)::waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED | WNOHANG | __WALL);
      continue;
    }
    pollfd order{socket, POLLIN, 0};
    if (::poll(&order, 1, kLookAgainMs) != 0) return;
  }
}

Result<> Inject::start_surgeon() {
  surgeon_.emplace(PENNA_TRY(Surgeon::start({[this](const Surgeon::Order& order) { return carry_out(order); },
                                             [this] { patients_.put_all_back(); }, note_ends})));
  return ok();
}

// If it cannot be recorded it still runs.
bool Inject::start_program(CarrierError* error) {
  const auto request = [&](char what) {
    const auto answer = surgeon_->request({what, pid(), {}}, serve_);
    return answer ? *answer : answer.error().text;
  };
  std::string trouble = request(kWatch);
  launched_->begin();
  if (trouble.empty()) trouble = request(kBringIn);
  if (!launched_->has_begun(error)) return false;
  if (!trouble.empty()) refused_.push_back(std::move(trouble));
  return true;
}

bool Inject::start(CarrierError* error) {
  constexpr int kOurTrouble = 125;
  if (launched_) return start_program(error);
  if (const auto started = start_surgeon(); !started) return *error = {kOurTrouble, started.error().text}, false;
  std::vector<Process> recorded;
  for (Process& process : processes_) {
    const auto trouble = surgeon_->request({kBringIn, process.pid}, serve_);
    if (trouble && trouble->empty())
      recorded.push_back(std::move(process));
    else
      refused_.push_back(trouble ? *trouble : trouble.error().text);
  }
  if (recorded.empty()) return *error = {kOurTrouble, refused_.back()}, refused_.pop_back(), false;
  processes_ = std::move(recorded);
  return true;
}

int Inject::pidfd() const {
  if (launched_) return launched_->pidfd();
  for (const Process& process : processes_)
    if (!is_readable(process.pidfd.get())) return process.pidfd.get();
  return processes_.front().pidfd.get();
}

bool Inject::has_ended() const {
  return launched_ || std::all_of(processes_.begin(), processes_.end(),
                                  [](const Process& one) { return is_readable(one.pidfd.get()); });
}

int Inject::wait() {
  if (launched_) return launched_->wait();
  for (const Process& process : processes_) {
    while (!is_readable(process.pidfd.get(), -1)) {
    }
  }
  return 0;
}

Result<Restored> Inject::restore(pid_t pid) const {
  return parse_restored(PENNA_TRY(surgeon_->request({kRestore, pid}, serve_)));
}

Result<> Inject::call(pid_t pid, const RemoteCode& code) const {
  const Surgeon::Order order{
      kCall, pid, {code.entry.number(), code.end.number(), code.stack_top.number(), code.channel}};
  const std::string trouble = PENNA_TRY(surgeon_->request(order, {}));
  if (!trouble.empty()) return Error{trouble};
  return ok();
}

Restored Inject::leave(const Living& living) {
  return leave_all(living, [this](pid_t pid) { return restore(pid); });
}

}  // namespace penna

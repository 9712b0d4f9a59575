// SPDX-License-Identifier: MIT
// See start_watch.h. Reference: ptrace(2), PTRACE_O_TRACEEXEC.
#include "reach/inject/start_watch.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/auxiliary_vector.h"
#include "base/file.h"
#include "base/in_proc.h"
#include "reach/process/stop_thread.h"
#include "reach/process/traced.h"
#include "reach/start/held_start.h"
#include "reach/start/standalone_program.h"
#include "reach/start/start_variables.h"

namespace penna {
namespace {

constexpr long kReleasePatienceUs = 10'000'000;

Fd listen_for_stops() {
  sigset_t stops;
  ::sigemptyset(&stops);
  ::sigaddset(&stops, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &stops, nullptr);
  return Fd(::signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK));
}

// The thread that the process itself knows by this id; 0: there is none.
pid_t thread_known_as(pid_t pid, uint32_t id) {
  const std::vector<pid_t> threads = threads_of(pid);
  const auto found = std::find_if(threads.begin(), threads.end(), [&](pid_t one) { return own_id(pid, one) == id; });
  return found != threads.end() ? *found : 0;
}

bool is_birth(int event) {
  return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE;
}

pid_t pid_of_event(pid_t thread) {
  unsigned long pid = 0;
  return traced(PTRACE_GETEVENTMSG, thread, 0, reinterpret_cast<uintptr_t>(&pid)) ? static_cast<pid_t>(pid) : 0;
}

}  // namespace

std::string StartWatch::watch(const Surgeon::Order& order) {
  const auto& [number, id, is_child, unused] = order.words;
  const pid_t thread = thread_known_as(order.pid, static_cast<uint32_t>(id));
  const uint64_t births = is_child != 0 ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE : 0;
  if (thread == 0 || !traced(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACEEXEC | births))
    return fmt::format("{} {} may not be traced while it starts a program: {}", kWatched, number,
                       thread == 0 ? "it has ended" : errno_text(errno));
  starts_[thread] = number;
  return fmt::format("{} {}", kWatched, number);
}

// The thread waits for us, in a system call of the agent's that is restarted.
std::string StartWatch::release(uint64_t number) {
  for (auto one = starts_.begin(); one != starts_.end();) {
    if (one->second != number) {
      ++one;
      continue;
    }
    if (traced(PTRACE_INTERRUPT, one->first, 0, 0)) (void)await_interrupt(one->first, one->first, kReleasePatienceUs);
    traced(PTRACE_DETACH, one->first, 0, 0);
    one = starts_.erase(one);
  }
  return fmt::format("{} {}", kNothing, number);
}

std::string StartWatch::carry_out(const Surgeon::Order& order) {
  if (order.what == kWatch) return watch(order);
  if (order.what == kRelease) return release(order.words[0]);
  return fmt::format("{} {}", kRestore, patients_.restore(order.pid));
}

void StartWatch::while_idle(int socket) {
  if (!signals_) signals_ = listen_for_stops();
  for (;;) {
    signalfd_siginfo read[8];
    while (::read(signals_.get(), read, sizeof read) > 0) {
    }
    int status = 0;
    for (pid_t thread; (thread = ::waitpid(-1, &status, WNOHANG | __WALL)) > 0;) handle(socket, thread, status);
    pollfd ready[] = {{socket, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    (void)::poll(ready, 2, -1);
    if (ready[0].revents != 0) return;
  }
}

void StartWatch::handle(int socket, pid_t thread, int status) {
  const auto found = starts_.find(thread);
  if (WIFEXITED(status) || WIFSIGNALED(status)) {
    early_.erase(thread);
    if (found == starts_.end()) return;
    Surgeon::say(socket, fmt::format("{} {}", kNothing, found->second));
    starts_.erase(found);
    return;
  }
  const Stop stop{WSTOPSIG(status), status >> 16};
  if (stop.event == PTRACE_EVENT_EXEC) {
    // If another thread than the first execs, it takes over the first one's id.
    const auto before = starts_.find(pid_of_event(thread));
    const auto& its = before != starts_.end() ? before : found;
    const uint64_t number = its != starts_.end() ? its->second : 0;
    if (its != starts_.end()) starts_.erase(its);
    Surgeon::say(socket, fmt::format("{} {} {} {}", kCame, number, thread, hold(thread)));
  } else if (found == starts_.end()) {
    early_[thread] = status;
  } else if (is_birth(stop.event)) {
    follow_child(socket, thread);
  } else {
    go_on_after(thread, stop);
  }
}

// The child becomes the program; the parent is not needed any more.
void StartWatch::follow_child(int socket, pid_t parent) {
  const pid_t child = pid_of_event(parent);
  starts_[child] = starts_[parent];
  starts_.erase(parent);
  traced(PTRACE_DETACH, parent, 0, 0);
  const auto early = early_.find(child);
  if (early == early_.end()) return;
  const int status = early->second;
  early_.erase(early);
  handle(socket, child, status);
}

// The process is stopped at its exec. Returns the reason why it is not recorded, as words that follow "process N ";
// empty: it is recorded. It continues in any case.
std::string StartWatch::hold(pid_t pid) {
  std::string why_not = why_no_standalone_agent(in_proc(pid, "exe"));
  if (auxiliary_value(pid, AT_SECURE) != 0) why_not = "has other privileges than its parent";
  if (!why_not.empty()) return traced(PTRACE_DETACH, pid, 0, 0), why_not;
  const auto held = HeldStart::hold_at_exec(pid);
  if (!held) return held.error().text;
  std::string trouble = patients_.bring_in(pid);
  if (const std::string who = fmt::format("process {} ", pid); trouble.starts_with(who)) trouble.erase(0, who.size());
  if (trouble.empty()) take_start_variables(pid);
  if (!held->let_go() && trouble.empty()) trouble = "has ended";
  return trouble;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See signal_relay.h.
#include "session/signal_relay.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/budget.h"

namespace penna {
namespace {

// All except those by which the kernel reports a thread's own faults, stops us for lack of the terminal, or measures
// our time.
sigset_t relayed_signals() {
  sigset_t set;
  ::sigfillset(&set);
  for (int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGTTIN, SIGTTOU, SIGVTALRM, SIGPROF, SIGXCPU})
    ::sigdelset(&set, signal);
  return set;
}

Fd open_terminal() { return Fd(::open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)); }

// A signal queued with a value keeps it. The sender cannot be preserved: the kernel enters us.
void send(pid_t program, const signalfd_siginfo& info) {
  const int number = static_cast<int>(info.ssi_signo);
  if (info.ssi_code == SI_QUEUE) {
    sigval value{};
    value.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr);
    ::sigqueue(program, number, value);
  } else {
    ::kill(program, number);
  }
}

// SIGTSTP is blocked in the recorder; unblocking it while one is pending stops us.
void stop() {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);  // stops here
  ::sigprocmask(SIG_BLOCK, &one, nullptr);
}

// Our parent (a shell) must see the job stop when the program does. SIGTSTP went to the whole process group, but the
// program may handle it, stop later, or not at all: so we wait for its SIGCHLD, and only then stop.
void stop_with(pid_t program) {
  siginfo_t state{};
  // Left unchanged: a stop by ptrace(2) belongs to a tracer.
  if (::waitid(P_PID, static_cast<id_t>(program), &state, WSTOPPED | WNOHANG | WNOWAIT) != 0) return;
  if (state.si_pid == program && state.si_code == CLD_STOPPED && state.si_status == SIGTSTP) stop();
}

bool ends_recorder(int signal) {
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
}

}  // namespace

Result<SignalRelay> SignalRelay::start() {
  const bool leads_terminal = ::getsid(0) == ::getpid() && open_terminal();
  GroupWitness witness = PENNA_TRY(GroupWitness::start());
  return SignalRelay(Signals(relayed_signals()), std::move(witness), leads_terminal);
}

// siginfo does not show whether a signal went to the whole group; a process in our group that receives it too is the
// witness. It is asked after the signals were read, so that it knows all of them.
std::vector<SignalRelay::Come> SignalRelay::take() {
  std::vector<Come> come;
  for (auto info = signals_.next(); info.ssi_signo != 0; info = signals_.next()) {
    const bool from_own_write =
        info.ssi_pid == static_cast<uint32_t>(::getpid()) && (info.ssi_signo == SIGPIPE || info.ssi_signo == SIGXFSZ);
    if (!from_own_write) come.push_back({info, false});
  }
  if (come.empty()) return come;
  witness_.ask();
  for (Come& one : come) one.to_group = witness_.saw(static_cast<int>(one.info.ssi_signo));
  return come;
}

void SignalRelay::hand_on(pid_t program) {
  for (const Come& come : take()) {
    const int number = static_cast<int>(come.info.ssi_signo);
    if (number == SIGCHLD)
      stop_with(program);
    else if (!come.to_group)
      send(program, come.info);
    if (was_terminated_ && !insists() && (number == SIGTERM || (number == SIGINT && !come.to_group))) {
      insists_ = number;
      insists_since_ms_ = monotonic_ms();
    }
    was_terminated_ |= number == SIGTERM;
  }
}

int SignalRelay::outlived() const {
  // Long enough for a handler that cleans up, short enough for an insistent user.
  constexpr uint64_t kHeedMs = 500;
  return insists() && monotonic_ms() - insists_since_ms_ >= kHeedMs ? insists_ : 0;
}

bool SignalRelay::end_requested() {
  bool requested = false;
  for (const Come& come : take()) {
    if (come.info.ssi_signo == SIGTSTP) stop();
    requested |= ends_recorder(static_cast<int>(come.info.ssi_signo));
  }
  return requested;
}

// When a session's leader ends, the kernel sends SIGHUP to the foreground group of its terminal, and SIGCONT as well if
// the terminal has hung up before (disassociate_ctty(), drivers/tty). But we are the leader, and outlive the program.
void SignalRelay::hang_up() {
  if (!leads_terminal_) return;
  const Fd terminal = open_terminal();
  const pid_t group = terminal ? ::tcgetpgrp(terminal.get()) : ::getpgrp();
  // 0: the group began outside of our pid namespace. 1: ours, as its process 1; kill(-1) would signal every process.
  if (group <= 1) return;
  ::kill(-group, SIGHUP);
  if (!terminal) ::kill(-group, SIGCONT);  // it has hung up before
  (void)take();                            // our own
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See group_witness.h.
#include "session/group_witness.h"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/file.h"

namespace penna {
namespace {

using Counts = std::array<uint32_t, NSIG>;

// The main function of the witness; every signal is blocked.
[[noreturn]] void witness(int socket, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::prctl(PR_SET_NAME, "penna-witness");
  (void)!::chdir("/");
  if (::dup2(socket, 0) != 0) ::_exit(1);
  // Including the terminal, and pipes whose readers wait for their last writer.
  ::closefrom(1);
  sigset_t all;
  ::sigfillset(&all);
  for (char request; ::read(0, &request, 1) == 1;) {
    Counts counts{};
    const timespec at_once{};
    for (int signal; (signal = ::sigtimedwait(&all, nullptr, &at_once)) > 0;) ++counts[static_cast<size_t>(signal)];
    (void)!::write(0, counts.data(), sizeof counts);
  }
  ::_exit(0);
}

}  // namespace

Result<GroupWitness> GroupWitness::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{fmt::format("cannot make a pair of sockets: {}", errno_text(errno))};
  Fd ours(ends[0]), its(ends[1]);
  const pid_t self = ::getpid();
  sigset_t all, before;
  ::sigfillset(&all);
  // Blocked before the fork: from its first instruction on, the witness loses no signal.
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int cause = errno;
  if (pid == 0) witness(its.get(), self);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return Error{fmt::format("cannot start a process: {}", errno_text(cause))};
  return GroupWitness(pid, std::move(ours));
}

GroupWitness::GroupWitness(GroupWitness&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)), seen_(other.seen_) {}

void GroupWitness::ask() {
  // A signal to a group is delivered to its members one after another, under a read lock on the process list. Taking
  // that lock for writing waits until all members have it: setpgid does that, even for a group that cannot exist (pids
  // end at 2^22). Not with our own group: its number is 0 if its leader is in another namespace, and 0 would make a new
  // group.
  ::setpgid(0, INT_MAX);
  Counts counts{};
  if (::write(socket_.get(), "", 1) != 1 || ::read(socket_.get(), counts.data(), sizeof counts) != sizeof counts)
    return;
  for (size_t i = 0; i < counts.size(); ++i) {
    // The kernel keeps one pending instance of each signal except real-time ones: so ours may or may not have been
    // delivered yet.
    const uint32_t most = static_cast<int>(i) < SIGRTMIN ? 1 : UINT32_MAX / 2;
    seen_[i] = std::min(seen_[i] + counts[i], most);
  }
}

bool GroupWitness::saw(int signal) {
  uint32_t& count = seen_[static_cast<size_t>(signal)];
  if (count == 0) return false;
  --count;
  return true;
}

void GroupWitness::end() {
  if (pid_ < 0) return;
  socket_.reset();
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See verb_process.h.
#include "session/verb_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/file.h"
#include "base/readable.h"

namespace penna {
namespace {

constexpr int kNice = 10;

// Runs in the child of a multithreaded process: only system calls are allowed. It stays in our session: where the
// kernel schedules by session (autogroup), nice values count only among the processes of one session.
[[noreturn]] void become_verb(pid_t parent, char* const* words, const sigset_t& mask, bool is_silent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(0);
  ::setpgid(0, 0);
  ::setpriority(PRIO_PROCESS, 0, kNice);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, 0);
  if (is_silent) ::dup2(nothing, 2);
  ::dup2(2, 1);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv("/proc/self/exe", words);
  ::_exit(127);
}

}  // namespace

Result<VerbProcess> VerbProcess::start(std::vector<std::string> words, const sigset_t& mask, Says says) {
  std::string program = "penna";
  std::vector<char*> pointers = {program.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid == 0) become_verb(parent, pointers.data(), mask, says == Says::kNothing);
  if (pid < 0) return Error{fmt::format("cannot start penna {}: {}", words[0], errno_text(errno))};
  return VerbProcess(pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
}

bool VerbProcess::is_running() const { return pid_ != 0 && pidfd_ && !is_readable(pidfd_.get()); }

bool VerbProcess::wait() {
  if (pid_ == 0) return false;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return status == 0;
}

// By the descriptor: the pid may be another process's by now.
void VerbProcess::request_end() const { ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGTERM, nullptr, 0); }

void VerbProcess::end() {
  if (pid_ == 0) return;
  request_end();
  (void)wait();
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See viewer.h.
#include "cli/viewer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/file.h"

namespace penna {
namespace {

constexpr int kNice = 10;

// Runs in the child of a multithreaded process: only system calls are allowed. It stays in our session: where the
// kernel schedules by session (autogroup), nice values count only among the processes of one session.
[[noreturn]] void become_viewer(pid_t parent, char* const* words, const sigset_t& mask) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(0);
  ::setpgid(0, 0);
  ::setpriority(PRIO_PROCESS, 0, kNice);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, 0);
  ::dup2(2, 1);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv("/proc/self/exe", words);
  ::_exit(127);
}

}  // namespace

Result<Viewer> Viewer::start(const std::string& recording, bool no_open, const sigset_t& mask) {
  std::vector<std::string> list = {"penna", "view", "--no-progress"};
  if (no_open) list.emplace_back("--no-open");
  list.emplace_back("--");
  list.push_back(recording);
  std::vector<char*> words;
  for (std::string& word : list) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid == 0) become_viewer(parent, words.data(), mask);
  if (pid < 0) return Error{fmt::format("cannot start penna view: {}", errno_text(errno))};
  return Viewer(pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
}

bool Viewer::is_running() const {
  pollfd ended{pidfd_.get(), POLLIN, 0};
  return pid_ != 0 && pidfd_ && ::poll(&ended, 1, 0) == 0;
}

void Viewer::end() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGTERM);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

}  // namespace penna

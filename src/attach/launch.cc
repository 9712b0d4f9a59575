// SPDX-License-Identifier: MIT
// See launch.h.
#include "attach/launch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "penna/channel.h"

namespace penna {
namespace {

void become(const std::vector<std::string>& command, const std::string& agent, const std::string& socket_path) {
  const char* preloaded = std::getenv("LD_PRELOAD");
  std::string preload = preloaded != nullptr && *preloaded != '\0' ? agent + ":" + preloaded : agent;
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  ::setenv(PENNA_SOCKET_VARIABLE, socket_path.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
}

}  // namespace

Launched launch(const std::vector<std::string>& command, const std::string& agent, const std::string& socket_path,
                const sigset_t& signals, LaunchError* error) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    *error = {125, fmt::format("cannot make a pipe: {}", errno_text(errno))};
    return {};
  }
  Fd reading(ends[0]), writing(ends[1]);
  pid_t pid = ::fork();
  if (pid == 0) {
    ::sigprocmask(SIG_SETMASK, &signals, nullptr);
    become(command, agent, socket_path);
    int cause = errno;
    (void)!::write(writing.get(), &cause, sizeof cause);
    ::_exit(127);
  }
  if (pid < 0) {
    *error = {125, fmt::format("cannot start a process: {}", errno_text(errno))};
    return {};
  }
  writing.reset();
  // The pipe closes when the exec works, and carries errno when it does not.
  int cause = 0;
  ssize_t got;
  do got = ::read(reading.get(), &cause, sizeof cause);
  while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof cause)) {
    ::waitpid(pid, nullptr, 0);
    *error = {cause == ENOENT ? 127 : 126, fmt::format("cannot run {}: {}", command[0], errno_text(cause))};
    return {};
  }
  Launched result;
  result.pid = pid;
  result.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return result;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See launch.h.
#include "reach/launch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "penna/channel.h"
#include "penna/detail/preload.h"

namespace penna {
namespace {

ssize_t read_retrying(int fd, void* to, size_t bytes) {
  ssize_t got;
  do got = ::read(fd, to, bytes);
  while (got < 0 && errno == EINTR);
  return got;
}

// Returns only if the exec failed.
void become(const std::vector<std::string>& command, std::string preload, const std::string& socket_path) {
  if (!preload.empty()) {
    const char* preloaded = std::getenv("LD_PRELOAD");
    if (preloaded != nullptr && *preloaded != '\0') {
      const size_t runtime = penna_first_runtime(preload.c_str()) == 0 ? penna_first_runtime(preloaded) : 0;
      if (runtime != 0) preload.insert(0, std::string(preloaded, runtime) + ":");
      preload.append(":").append(preloaded);
    }
    ::setenv("LD_PRELOAD", preload.c_str(), 1);
    ::setenv(PENNA_SOCKET_VARIABLE, socket_path.c_str(), 1);
  }
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
}

}  // namespace

Result<std::unique_ptr<Carrier>> Launch::prepare(const std::vector<std::string>& command, const std::string& preload,
                                                 const std::string& socket_path, const sigset_t& signals) {
  int go[2], result[2];
  if (::pipe2(go, O_CLOEXEC) != 0) return Error{fmt::format("cannot make a pipe: {}", errno_text(errno))};
  Fd go_reading(go[0]), go_writing(go[1]);
  if (::pipe2(result, O_CLOEXEC) != 0) return Error{fmt::format("cannot make a pipe: {}", errno_text(errno))};
  Fd result_reading(result[0]), result_writing(result[1]);

  pid_t pid = ::fork();
  if (pid < 0) return Error{fmt::format("cannot start a process: {}", errno_text(errno))};
  if (pid == 0) {
    go_writing.reset();
    char start;
    if (read_retrying(go_reading.get(), &start, 1) != 1) ::_exit(125);  // the recorder gave up, or died
    ::sigprocmask(SIG_SETMASK, &signals, nullptr);
    become(command, preload, socket_path);
    int cause = errno;
    (void)!::write(result_writing.get(), &cause, sizeof cause);
    ::_exit(127);
  }
  std::unique_ptr<Launch> launch(new Launch);
  launch->command_ = command;
  launch->pid_ = pid;
  launch->pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  launch->go_ = std::move(go_writing);
  launch->result_ = std::move(result_reading);
  return std::unique_ptr<Carrier>(std::move(launch));
}

Launch::~Launch() {
  if (!go_) return;
  go_.reset();
  ::waitpid(pid_, nullptr, 0);
}

bool Launch::start(CarrierError* error) {
  (void)!::write(go_.get(), "", 1);
  go_.reset();
  int cause = 0;
  // The pipe's other end has O_CLOEXEC: exec closes it, and we read the end of the file.
  if (read_retrying(result_.get(), &cause, sizeof cause) != static_cast<ssize_t>(sizeof cause)) return true;
  ::waitpid(pid_, nullptr, 0);
  *error = {cause == ENOENT ? 127 : 126, fmt::format("cannot run {}: {}", command_[0], errno_text(cause))};
  return false;
}

int Launch::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace penna

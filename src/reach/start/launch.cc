// SPDX-License-Identifier: MIT
// See launch.h.
#include "reach/start/launch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "penna/channel.h"
#include "penna/detail/preload.h"
#include "reach/process/remote_call.h"

namespace penna {
namespace {

ssize_t read_retrying(int fd, void* to, size_t bytes) {
  ssize_t got;
  do got = ::read(fd, to, bytes);
  while (got < 0 && errno == EINTR);
  return got;
}

// In the child. Its permissions for tracers end with it.
void wait_for_go(int go, int result) {
  for (;;) {
    pid_t tracer = 0;
    if (read_retrying(go, &tracer, sizeof tracer) != sizeof tracer) ::_exit(125);  // the recorder gave up, or died
    if (tracer == 0) return;
    const int allowed =
        ::prctl(PR_SET_PTRACER, tracer) == 0 ? 0 : errno;  // EINVAL: without Yama any process of our user may trace
    (void)!::write(result, &allowed, sizeof allowed);
  }
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

Result<std::unique_ptr<Launch>> Launch::prepare(const std::vector<std::string>& command, const std::string& preload,
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
    wait_for_go(go_reading.get(), result_writing.get());
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
  return launch;
}

Launch::~Launch() {
  if (!go_) return;
  go_.reset();
  ::waitpid(pid_, nullptr, 0);
}

void Launch::allow_tracer(pid_t tracer) const {
  int allowed = 0;
  if (::write(go_.get(), &tracer, sizeof tracer) == static_cast<ssize_t>(sizeof tracer))
    (void)!read_retrying(result_.get(), &allowed, sizeof allowed);
}

void Launch::begin() {
  const pid_t none = 0;
  (void)!::write(go_.get(), &none, sizeof none);
  go_.reset();
}

bool Launch::has_begun(CarrierError* error) {
  int cause = 0;
  // The pipe's other end has O_CLOEXEC: exec closes it, and we read end-of-file.
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

Result<> Launch::call(pid_t pid, const RemoteCode& code) const { return call_in(pid, code); }

}  // namespace penna

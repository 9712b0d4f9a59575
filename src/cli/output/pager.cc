// SPDX-License-Identifier: MIT
// See pager.h.
#include "cli/output/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/find_program.h"
#include "options/terminal.h"

namespace penna {
namespace {

constexpr int kKeys[] = {SIGINT, SIGQUIT};

void run(const char* command, int from) {
  ::dup2(from, STDIN_FILENO);
  for (const int key : kKeys) ::signal(key, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  ::setenv("LESS", "FRX", 0);  // as git does: applies to a $PAGER that is less, too
  ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  ::_exit(127);
}

// Without the height, less does not know what one screen is.
bool reports_height(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row != 0;
}

}  // namespace

std::string pager_command(int fd) {
  const char* term = std::getenv("TERM");
  if (!is_terminal(fd) || term == nullptr || *term == '\0' || std::strcmp(term, "dumb") == 0) return {};
  if (const char* pager = std::getenv("PAGER"); pager != nullptr)
    return std::strcmp(pager, "cat") == 0 ? std::string() : pager;
  return !reports_height(fd) || find_program("less").empty() ? std::string() : "less -FRX";
}

bool Pager::begin() {
  begun_ = true;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  const Fd from(ends[0]);
  to_ = Fd(ends[1]);
  for (const int key : kKeys) ::signal(key, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  pid_ = ::fork();
  if (pid_ == 0) run(command_.c_str(), from.get());
  return pid_ > 0;
}

bool Pager::write(std::string_view text) {
  if (!begun_ && !begin()) ended_ = true;
  keeps_ = keeps_ && kept_.size() + text.size() <= kKept;
  if (keeps_)
    kept_ += text;
  else
    kept_.clear();
  ended_ = ended_ || !write_all(to_, text);
  return !ended_;
}

// A shell exits with 126 or 127 if it cannot run the command.
void Pager::finish() {
  if (!begun_) return;
  to_.reset();
  int status = 127 << 8;
  while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  for (const int key : kKeys) ::signal(key, SIG_DFL);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (code != 126 && code != 127) kept_.clear();
  begun_ = false;
  pid_ = -1;
}

}  // namespace penna

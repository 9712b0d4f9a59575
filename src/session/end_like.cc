// SPDX-License-Identifier: MIT
// See end_like.h.
#include "session/end_like.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>

namespace penna {

int end_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  // The program has left its core dump already; one of ours would only hide it.
  int number = WTERMSIG(status);
  rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // raise() runs no destructors and no atexit handlers: buffered output must be written now.
  std::fflush(nullptr);
  // However we have set the signal up, it must have its default action, and not be blocked, to kill us.
  ::signal(number, SIG_DFL);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, number);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(number);
  return 128 + number;  // a signal that does not kill us, such as a real-time one beyond our libc
}

}  // namespace penna

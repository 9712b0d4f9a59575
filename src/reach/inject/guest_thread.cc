// SPDX-License-Identifier: MIT
// See guest_thread.h.
#include "reach/inject/guest_thread.h"

#include <fmt/core.h>
#include <sys/syscall.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "base/command_line.h"
#include "base/file.h"
#include "reach/process/stop_thread.h"

namespace penna {

pid_t guest_thread_of(pid_t pid) {
  const std::vector<pid_t> threads = threads_of(pid);
  const auto found = std::find_if(threads.begin(), threads.end(),
                                  [](pid_t thread) { return comm_of(static_cast<uint32_t>(thread)) == "penna-guest"; });
  return found == threads.end() ? 0 : *found;
}

std::chrono::milliseconds LockWatch::waited() {
  constexpr std::chrono::milliseconds kBetween(20);
  if (const auto now = Clock::now(); now - looked_ >= kBetween) {
    looked_ = now;
    if (!waits()) since_ = now;
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(looked_ - since_);
}

bool LockWatch::waits() {
  if (guest_ == 0) guest_ = guest_thread_of(pid_);
  if (guest_ == 0) return false;
  // The number of the system call in decimal, its arguments in hexadecimal (proc_pid_syscall(5)).
  const auto text = read_file(fmt::format("/proc/{}/task/{}/syscall", pid_, guest_), 256);
  std::istringstream call(text ? *text : "");
  int64_t number = -1;
  uint64_t lock = 0;
  if (!(call >> number >> std::hex >> lock) || number != SYS_futex) return false;
  lock_ = RemotePtr<uint32_t>(lock);
  return true;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// VerbProcess: runs another verb of penna in a separate process, beside a recording: penna view (record --view), penna
// push (record --push).
//
// Why a process: it reads the file like any other reader, and whatever happens to it, the recording and the program go
// on.
// Invariant: it has a lower priority than the program; Ctrl-C in the terminal does not reach it; it ends with the
// thread that started it.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

class VerbProcess {
 public:
  // `words`: the verb and its arguments. `mask`: the signal mask that we were started with. What it prints goes to
  // standard error.
  enum class Says : uint8_t { kAll, kNothing };
  static Result<VerbProcess> start(std::vector<std::string> words, const sigset_t& mask, Says says = Says::kAll);
  VerbProcess(VerbProcess&& other) noexcept : pid_(std::exchange(other.pid_, 0)), pidfd_(std::move(other.pidfd_)) {}
  VerbProcess& operator=(VerbProcess&&) = delete;
  ~VerbProcess() { end(); }

  int pidfd() const { return pidfd_.get(); }
  bool is_running() const;
  // Waits for its end: true if it did what it was to do.
  bool wait();
  // Any thread, also while another one waits.
  void request_end() const;
  // Does both.
  void end();

 private:
  VerbProcess(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_;  // 0: it has been waited for
  Fd pidfd_;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// OwnRecorder: the recorder inside the process that it records (penna/recorder.h is its face).
//
// Why the same parts as penna record: a socket in a directory of its own, a server, a collector, a writer; only that
// they live in two threads of the target. The agent cannot tell the difference, and forked children are recorded the
// same way.
// Invariant: these two threads take no signals, record nothing of themselves, and wait for no other thread of the
// program. They have a descriptor table of their own: a program that closes all that it does not know closes nothing of
// theirs, and they keep nothing of its open.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <future>
#include <memory>
#include <string>

#include "base/result.h"
#include "collect/settings.h"

namespace penna {

class OwnRecorder {
 public:
  // Records from its return on. An existing file is replaced, unless somebody is writing it.
  static Result<std::unique_ptr<OwnRecorder>> start(const std::string& file, const RecordSettings& settings);
  // The recording is closed; what could not be written is the error. In a forked child: nothing happens, the recorder
  // is its parent's.
  Result<> stop();
  ~OwnRecorder();
  OwnRecorder(const OwnRecorder&) = delete;
  OwnRecorder& operator=(const OwnRecorder&) = delete;

 private:
  OwnRecorder(std::string file, const RecordSettings& settings);
  Result<> run();  // what the thread does, from its beginning to its end
  void end_thread();
  bool is_ours() const;  // this is the process that started it

  const std::string file_;
  const RecordSettings settings_;
  // A fork has this object, too, but not the threads.
  const pid_t pid_;
  std::promise<Result<std::string>> ready_;  // the socket at which the thread listens
  pthread_t thread_{};
  bool running_ = false;
  Result<> outcome_ = ok();  // of the thread, once it has ended
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// OwnRecorder: the recorder inside the process that it records (penna/recorder.h is its interface).
//
// Why the same parts as penna record, here in two threads of the target (a socket in its own directory, a server, a
// collector, a writer): the agent sees no difference, and forked children are recorded the same way.
// Invariant: these two threads take no signals, record nothing of themselves, and wait for no other thread of the
// program. They have their own descriptor table: a program that closes all descriptors that it does not know closes
// none of theirs, and they keep none of its descriptors open.
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
  // Recording has begun when it returns. An existing file is replaced, unless it is being written.
  static Result<std::unique_ptr<OwnRecorder>> start(const std::string& file, const RecordSettings& settings);
  // Closes the recording; the error is what could not be written. Does nothing in a forked child: the recorder is its
  // parent's.
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
  // A forked child has this object, too, but not the threads.
  const pid_t pid_;
  std::promise<Result<std::string>> ready_;  // the socket at which the thread listens
  pthread_t thread_{};
  bool running_ = false;
  Result<> outcome_ = ok();  // of the thread, once it has ended
};

}  // namespace penna

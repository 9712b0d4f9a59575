// SPDX-License-Identifier: MIT
// FollowedView: the page's view of a recording that is still being written: it reads what is appended, notifies the
// page, and passes the page's requests on to the recorder.
//
// Usage:  FollowedView view(…); view.start(); answer() …; is_over(), and then number() of the finished recording.
// Invariant: only its own thread extends the data, and never while a question is being answered from it.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "cli/verbs/cmd_view.h"
#include "recording/followed_recording.h"
#include "view/answers/questions.h"
#include "view/data/followed_data.h"

namespace penna {

// The process that is writing the recording, as the recording says and the system confirms; 0: none.
pid_t writer_of(const Recording& recording);

class FollowedView {
 public:
  // `writer`: writer_of(). `over`: called once, by its thread, when nothing more will be written.
  FollowedView(FollowedRecording followed, const ViewOptions& options, pid_t writer, std::function<void()> over);
  ~FollowedView();
  FollowedView(const FollowedView&) = delete;
  FollowedView& operator=(const FollowedView&) = delete;
  void start();

  HttpAnswer answer(const std::string& name, const HttpParameters& parameters);
  // "points", "kinds", "snapshot", "stop": like those of penna ctl.
  HttpAnswer act(const std::string& name, const HttpParameters& parameters);
  // What is new for the page, as JSON.
  std::string news();
  // Gives the threads of a newly opened recording the ids that they have here.
  void number(Recording& recording);
  // The finished recording cannot be read: what is here stays.
  void end() { data_.end(); }
  // The numbers of names so far.
  NameIds ids() { return questions_.ids(); }

 private:
  void run();
  bool step();
  bool has_writer_ended();
  void name_anew();
  std::string controls();
  Result<std::string> switch_point(const HttpParameters& parameters);
  Result<std::string> switch_kind(const HttpParameters& parameters);
  Result<std::string> set_filter(const HttpParameters& parameters);

  const ViewOptions options_;
  const pid_t writer_;
  const Fd writer_fd_;                                                               // pidfd
  const struct stat file_;                                                           // that it writes
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();  // whether it has it open
  const std::function<void()> over_;
  FollowedRecording followed_;
  std::unique_ptr<SymbolSource> symbols_;
  std::optional<Names> names_;
  FollowedData data_;
  std::mutex mutex_;                                  // guards order_
  std::vector<std::pair<uint32_t, uint32_t>> order_;  // of threads: number of the process, serial
  Questions questions_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace penna

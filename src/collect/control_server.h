// SPDX-License-Identifier: MIT
// The recorder's ear for `penna ctl`: a socket beside the one of the targets, one line asked, one line answered.
//
//   asked     on|off PID PATTERN         PID 0: every process of the recording, and programs to come
//   answered  ok PROCESSES MATCHED CHANGED REFUSED, or: error SENTENCE, or: yourself
//
// `yourself`: this recorder lives in the program that it records and stops none of its processes, which the program
// would see; whoever asks does it, and then tells:
//   asked     was-on|was-off PID PATTERN
//   answered  ok 0 0 0 0
//
// Invariant: whoever asks is the same user (or root), gets an answer or an end within a second, and cannot stop the
// recorder.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "collect/collector.h"
#include "collect/control_page.h"
#include "collect/server.h"

namespace penna {

// Where the recorder listens whose targets know `socket_path`.
std::string control_path(const std::string& socket_path);

class ControlServer {
 public:
  // Has a process do what is asked, and gives its answer; nothing: whoever asks must do that.
  using Ask = std::function<std::optional<Result<penna_control>>(uint32_t pid, ControlPage& page,
                                                                 const penna_control& request)>;

  // Listens beside `socket_path`; server and collector must outlive it.
  static Result<ControlServer> listen(const std::string& socket_path, Server& server, Collector& collector, Ask ask);
  ControlServer(ControlServer&& other) noexcept = default;
  ControlServer& operator=(ControlServer&&) = delete;
  ~ControlServer();

  int fd() const { return listener_.get(); }  // readable when there is something for work()
  void work();

 private:
  ControlServer(std::string path, Server& server, Collector& collector, Ask ask)
      : path_(std::move(path)), server_(&server), collector_(&collector), ask_(std::move(ask)) {}
  std::string answer(const std::string& line);
  void note(uint32_t pid, bool on, const std::string& pattern);

  std::string path_;
  Server* server_;
  Collector* collector_;
  Ask ask_;
  Fd listener_;
};

}  // namespace penna

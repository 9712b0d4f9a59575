// SPDX-License-Identifier: MIT
// The recorder's socket for `penna ctl`, beside the one for targets: one request line, one answer line.
//
//   request   on|off PID PATTERN         PID 0: every process of the recording, and future programs
//   answer    ok PROCESSES MATCHED CHANGED REFUSED, or: error SENTENCE, or: yourself
//
// `yourself`: this recorder runs inside the program that it records and never stops its processes, because the program
// would notice; the client makes the change itself, and then reports it:
//   request   was-on|was-off PID PATTERN
//   answer    ok 0 0 0 0
//
// Invariant: a client is of the same user (or root), gets an answer or is disconnected within a second, and cannot stop
// the recorder.
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

// The control socket of the recorder whose targets have `socket_path`.
std::string control_path(const std::string& socket_path);

class ControlServer {
 public:
  // Makes a process carry out a request, and returns its answer; nothing: the client must do that.
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

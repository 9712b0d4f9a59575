// SPDX-License-Identifier: MIT
// The recorder's ear for `penna ctl`: a socket beside the one of the targets, one line asked, one line answered.
//
//   asked     on|off PID PATTERN         PID 0: every process of the recording, and programs to come
//   answered  ok PROCESSES MATCHED CHANGED REFUSED, or: error SENTENCE
//
// Invariant: whoever asks is the same user (or root), gets an answer or an end within a second, and cannot stop the recorder.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "collect/collector.h"
#include "collect/server.h"

namespace penna {

// Where the recorder listens whose targets know `socket_path`.
std::string control_path(const std::string& socket_path);

class ControlServer {
 public:
  // Listens beside `socket_path`; both others must outlive it.
  static Result<ControlServer> listen(const std::string& socket_path, Server& server, Collector& collector);
  ControlServer(ControlServer&& other) noexcept = default;
  ControlServer& operator=(ControlServer&&) = delete;
  ~ControlServer();

  int fd() const { return listener_.get(); }  // readable when there is something for work()
  void work();

 private:
  ControlServer(std::string path, Server& server, Collector& collector)
      : path_(std::move(path)), server_(&server), collector_(&collector) {}
  std::string answer(const std::string& line);

  std::string path_;
  Server* server_;
  Collector* collector_;
  Fd listener_;
};

}  // namespace penna

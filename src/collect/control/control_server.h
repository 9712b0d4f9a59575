// SPDX-License-Identifier: MIT
// The recorder's socket for `penna ctl`, beside the one for targets: one request line, one answer line.
//
//   request   on|off PID PATTERN         PID 0: every process of the recording, and future programs
//   answer    ok PROCESSES MATCHED CHANGED REFUSED, or: error SENTENCE, or: yourself
//
//   request   kinds-on|kinds-off 0 KIND,KIND...
//   answer    ok 0 0 0 0: what begins from now on is recorded again, or left out
//   request   kinds 0 all
//   answer    ok RECORDED OFF, as bits: what is recorded at all, and of these what is switched off
//
//   request   filter-on|filter-off 0 where|function|no-function TEXT    TEXT: the rest of the line
//   answer    ok 0 MATCHED 0 0: it holds, or no longer; a new condition applies to MATCHED points that are known so far
//             (2^32 - 1: not known)
//   request   filters 0 all
//   answer    ok, and for each that is set a tab, where|function|no-function, and TEXT
//
//   request   snapshot PID all           what penna record --keep has kept is stored
//   answer    ok 0 0 0 0
//
//   request   stop PID all               the recording ends
//   answer    ok 0 0 0 0, and the connection is closed once the recording is complete and the recorder has left
//             its processes
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
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "collect/collector.h"
#include "collect/control/set_filters.h"
#include "collect/control_page.h"
#include "collect/server.h"

namespace penna {

// The control socket of the recorder whose targets have `socket_path`.
std::string control_path(const std::string& socket_path);

class ControlServer {
 public:
  // Makes a process carry out a request, and returns its answer; empty if the client must do that itself.
  using Ask = std::function<std::optional<Result<penna_control>>(uint32_t pid, ControlPage& page,
                                                                 const penna_control& request)>;

  // Listens beside `socket_path`; server and collector must outlive it.
  // `may_stop`: whether stop_requested() can be honored. `chooser`: for filters by names of functions; empty: none.
  static Result<ControlServer> listen(const std::string& socket_path, Server& server, Collector& collector, Ask ask,
                                      bool may_stop = true, SetFilters::Chooser chooser = {});
  ControlServer(ControlServer&& other) noexcept = default;
  ControlServer& operator=(ControlServer&&) = delete;
  ~ControlServer();

  bool stop_requested() const { return !stoppers_.empty(); }

  int fd() const { return listener_.get(); }  // readable when there is something for work()
  void work();

 private:
  ControlServer(std::string path, Server& server, Collector& collector, Ask ask, bool may_stop,
                SetFilters::Chooser chooser)
      : path_(std::move(path)),
        server_(&server),
        collector_(&collector),
        ask_(std::move(ask)),
        may_stop_(may_stop),
        filters_(collector, std::move(chooser)) {}
  std::string answer(const std::string& line);
  std::string switch_kinds(bool on, const std::string& kinds);
  std::string switch_points(uint32_t asked, bool on, const std::string& pattern, const penna_control& control);
  std::string change_filter(bool on, const std::string& kind, const std::string& text);
  void note(uint32_t pid, bool on, const std::string& pattern);

  std::string path_;
  Server* server_;
  Collector* collector_;
  Ask ask_;
  bool may_stop_;
  SetFilters filters_;
  Fd listener_;
  std::vector<Fd> stoppers_;  // clients that requested the end, and wait for it
};

}  // namespace penna

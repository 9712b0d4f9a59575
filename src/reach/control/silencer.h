// SPDX-License-Identifier: MIT
// record --max-overhead: makes processes stop recording the functions whose calls cost too much, and reports which.
//
// Invariant: everything runs on the thread that serves `penna ctl`, because a process handles one request at a time;
// each function that is no longer recorded, and each that cannot be silenced, is named in the recording's notes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "collect/collector.h"
#include "collect/overhead_governor.h"
#include "collect/server.h"
#include "reach/control/ask_process.h"

namespace penna {

class Silencer {
 public:
  // A function's name, for display; called on the thread that calls work().
  using NameOf = std::function<std::string(const Module& module, uint64_t pc)>;

  // `percent`: how much of the program's own time recording calls may cost; none: returns null, nothing to do. `call`:
  // makes processes execute the agent's code. `next`:
  // the observer to forward to; may be null. Call before the collector starts; the others must outlive this.
  static Result<std::unique_ptr<Silencer>> make(std::optional<uint32_t> percent, CallIn call, Server& server,
                                                Collector& collector, Observer* next, NameOf name_of);

  int fd() const { return governor_.fd(); }  // readable when there is something for work()
  void work();
  // What was done, in one sentence.
  std::string summary() const;

 private:
  Silencer(uint32_t percent, OverheadGovernor governor, CallIn call, Server& server, Collector& collector,
           NameOf name_of)
      : percent_(percent),
        governor_(std::move(governor)),
        call_(std::move(call)),
        server_(server),
        collector_(collector),
        name_of_(std::move(name_of)) {}
  void carry_out(const SilenceOrder& order, ControlPage& page);
  // At most as many as a request holds. Returns a bit for each that is no longer recorded; empty: the process did not
  // answer.
  std::optional<uint64_t> silence(uint32_t pid, ControlPage& page, std::span<const BusyFunction> functions);
  void note(const SilenceOrder& order, const BusyFunction& function, bool done);

  uint32_t percent_;
  OverheadGovernor governor_;
  CallIn call_;
  Server& server_;
  Collector& collector_;
  NameOf name_of_;
  std::set<ino_t> unresponsive_;  // processes that did not answer, by the inode of their channel
  size_t silenced_ = 0, refused_ = 0, unanswered_ = 0;
  std::string first_, first_refused_;
};

}  // namespace penna

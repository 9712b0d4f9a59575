// SPDX-License-Identifier: MIT
// StandaloneStarts: programs that no dynamic linker loads and that recorded processes start. Each is held at its start
// and gets the standalone agent, like one that penna starts.
//
// How: the agent in the starting process announces the start (penna/detail/starts.h), and waits until our surgeon
// traces its thread (start_watch.h). The surgeon is started at the first announcement.
// Invariant: no process waits for us longer than the agent's timeout; a start that we cannot follow continues
// unrecorded, and the reason is reported.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "collect/server.h"
#include "reach/carrier.h"
#include "reach/inject/surgeon.h"

namespace penna {

class StandaloneStarts {
 public:
  // `agent`: path of the library.
  StandaloneStarts(std::string agent, std::string socket_path);
  StandaloneStarts(const StandaloneStarts&) = delete;
  StandaloneStarts& operator=(const StandaloneStarts&) = delete;

  void announce(Server::AnnouncedStart start);
  int fd() const { return epoll_.get(); }  // readable when there is something for work()
  void work();
  bool is_busy() const { return !coming_.empty(); }  // some starts are in progress
  // Whether it is one of these programs, or descends from one.
  bool owns(uint32_t pid) const;
  bool has_any() const { return !programs_.empty(); }

  // Like a carrier's leave(), for the processes that this owns. From here on no start is followed.
  Restored leave(const Carrier::Living& living, const Carrier::Serve& serve);
  // Why programs were not recorded, each reason once, as words that follow "a program ".
  const std::set<std::string>& refused() const { return refused_; }

 private:
  static constexpr size_t kMost = 64;  // at once
  bool has_surgeon();
  void hear(uint64_t number);
  void hear_surgeon();
  void understand(const std::string& said);
  void forget_all();
  Result<Restored> restore(pid_t pid, const Carrier::Serve& serve);

  std::string agent_, socket_path_;
  Fd epoll_;
  std::optional<Surgeon> surgeon_;
  bool is_closed_ = false;            // no more: the recording ends, or the surgeon is gone
  uint64_t next_ = 1;                 // number of a start
  std::map<uint64_t, Fd> coming_;     // by number: the waiting agent's socket; none: it no longer waits
  std::set<uint32_t> programs_;       // those that have the agent
  std::set<std::string> refused_;     // reasons
  std::optional<std::string> given_;  // the surgeon's answer to kRestore
};

}  // namespace penna

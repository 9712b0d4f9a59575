// SPDX-License-Identifier: MIT
// Patients: the processes that the agent was brought into, in the surgeon that does it (surgeon.h): in, and out again.
//
// How: the agent comes as a memfd, so that the process needs no file of ours. One of its threads, wherever it was,
// makes the few system calls that start a guest thread (guest.h), which loads the agent and lets it meet us; then every
// thread is stopped for the moment in which what the agent has planned is written (journal.h).
// Invariant: until the guest runs, nothing has changed in the process but memory and a descriptor of its own; from then
// on the journal says what has. The process is never signalled and never ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "reach/carrier.h"
#include "reach/journal.h"

namespace penna {

// How far the agent is brought in.
enum class InjectUntil : uint8_t {
  kPlanned,  // the agent has come, and has noted what it wants changed: nothing is recorded, nothing to be left
  kWritten,
};

class Patients {
 public:
  // `agent`: path of the library.
  Patients(std::string agent, std::string socket_path, InjectUntil until = InjectUntil::kWritten)
      : agent_(std::move(agent)), socket_path_(std::move(socket_path)), until_(until) {}

  // A sentence; empty: the process is recorded, by the program that it is by then.
  std::string bring_in(pid_t pid);
  // The process and those that it has forked since: numbers for parse_restored(), or a sentence.
  std::string give_back(pid_t pid) const;
  // Of all; who was to do it is dead.
  void put_all_back() const;

 private:
  struct AttachedProcess {
    Fd turn;                         // ours, as long as the recording lasts
    std::optional<Journal> journal;  // once the guest has come
  };
  std::string bring_in_once(pid_t pid, AttachedProcess& patient) const;
  std::optional<Journal> journal_of(pid_t pid) const;
  void restore_family(pid_t pid, Restored* all) const;

  std::string agent_, socket_path_;
  InjectUntil until_;
  std::map<pid_t, AttachedProcess> patients_;
};

// What give_back() has answered. The error is its sentence.
Result<Restored> parse_restored(const std::string& answer);

// In the recorder: gives back every process that is living, until a round meets nobody new: one may fork right before
// it is reached, and its child then has our changes.
Restored leave_all(const Carrier::Living& living, const std::function<Result<Restored>(pid_t)>& give_back);

}  // namespace penna

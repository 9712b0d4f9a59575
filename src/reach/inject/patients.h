// SPDX-License-Identifier: MIT
// Patients: the processes that the agent is brought into, and removed from again. Lives in the surgeon (surgeon.h).
//
// How: the agent comes as a memfd, so that the process needs no file of ours. One of its threads, wherever it was,
// makes the few system calls that start a guest thread (guest.h), which loads the agent and has it connect to us; then
// all threads are stopped for the moment in which the changes that the agent has planned are written (journal.h).
// Invariant: until the guest runs, nothing in the process has changed except for separate memory and a descriptor; from
// then on the journal lists the changes. The process is never signalled and never ended.
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
#include "reach/inject/journal.h"

namespace penna {

// How far the agent is brought in.
enum class InjectUntil : uint8_t {
  kPlanned,  // the agent is loaded, and has noted what it wants changed: nothing is recorded, nothing needs restoring
  kWritten,
};

class Patients {
 public:
  // `agent`: path of the library.
  Patients(std::string agent, std::string socket_path, InjectUntil until = InjectUntil::kWritten)
      : agent_(std::move(agent)), socket_path_(std::move(socket_path)), until_(until) {}

  // Returns a sentence; empty: the process is recorded, as the program that it runs by then.
  std::string bring_in(pid_t pid);
  // Restores the process and those that it has forked since. Returns numbers for parse_restored(), or a sentence.
  std::string restore(pid_t pid) const;
  // RemoteCode::finisher for such a process; null: it is none.
  CodePtr finisher_in(pid_t pid) const;
  // Restores all of them: the recorder, which was to order it, is dead.
  void put_all_back() const;

 private:
  struct AttachedProcess {
    Fd turn;                         // held as long as the recording lasts
    std::optional<Journal> journal;  // once the guest has been let go
  };
  std::string bring_in_once(pid_t pid, AttachedProcess& patient) const;
  std::optional<Journal> journal_of(pid_t pid) const;
  void restore_family(pid_t pid, Restored* all) const;

  std::string agent_, socket_path_;
  InjectUntil until_;
  std::map<pid_t, AttachedProcess> patients_;
};

// Reads restore()'s answer. The error is its sentence.
Result<Restored> parse_restored(const std::string& answer);

// In the recorder: restores every living process, until a round finds no new one: a process may fork right before it is
// reached, and its child then has our changes.
Restored leave_all(const Carrier::Living& living, const std::function<Result<Restored>(pid_t)>& restore);

}  // namespace penna

// SPDX-License-Identifier: MIT
// Journal: what an agent that was carried into a process wants changed there, and what is put back at the end
// (penna/detail/attach.h).
//
// Invariant: changes are made while every thread is stopped, and none is in the middle of what changes. A place that
// holds neither what was there nor what we wrote is somebody else's by now: it is left alone and counted.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "penna/detail/attach.h"
#include "reach/carrier.h"
#include "reach/remote_libraries.h"
#include "reach/stopped_process.h"

namespace penna {

class Journal {
 public:
  // `attachment`: of a penna_attachment in that process. `sigreturn`: where signal handlers return to. `system_code`:
  // of libc and the dynamic linker.
  Journal(pid_t pid, uint64_t attachment, uint64_t sigreturn, std::vector<RemoteRange> system_code)
      : pid_(pid), attachment_(attachment), sigreturn_(sigreturn), system_code_(std::move(system_code)) {}
  // That of a process which was forked by this one: it lies at the same place.
  Journal of(pid_t child) const {
    Journal its(child, attachment_, sigreturn_, system_code_);
    its.unwinder_ = unwinder_;
    return its;
  }
  // Of a program that was entered by an agent that is alone: the functions of its unwinder.
  void set_unwinder(std::vector<RemoteRange> functions) { unwinder_ = std::move(functions); }

  enum class State {
    kOtherProgram,  // by exec: the process has no journal
    kInForce,
    kTakenBack,  // by put_back(), all of it
  };
  // Error: the process may not be read, or has ended.
  Result<State> state() const;

  // The changes that the agent has noted, as they came; mappings are none. Error: there is no journal.
  Result<std::vector<penna_change>> planned() const;
  // Makes the changes that the agent has noted. Error, as a sentence: none is made.
  Result<> write_all() const;
  // Takes all of them back; the agent records nothing any more, and threads have no chunks: what comes late is recorded
  // nowhere. Error: not all is put back; what is left does nothing.
  Result<Restored> put_back() const;
  // What put_back() had to leave for threads that wait: can it be put back now?
  bool finish_putting_back() const {
    Restored rest;
    put_back_unwinder(&rest);
    return rest.waiting == 0;
  }
  // Calls work(memory, process, head) while all threads are stopped, and none runs code of the agent or is about to
  // come back to it. Error: that did not happen. work() says what else stands against it for now; empty: nothing.
  using Work = std::function<std::string(const RemoteMemory&, const StoppedProcess&, const penna_attachment&)>;
  Result<> while_unused(const Work& work) const;
  // What the sentences have in common that say so: some thread never got out of the way.
  static constexpr const char* kIsAlways = " is always ";

 private:
  struct Changes;
  // What stands against it for now, as words behind "is always "; empty: it is done.
  using Attempt = std::function<std::string(const RemoteMemory&, const StoppedProcess&, const Changes&)>;
  Result<> while_stopped(const Attempt& attempt) const;
  bool is_amid_place(const RemoteMemory& memory, const StoppedProcess& process, const Changes& changes) const;
  void set_state(const RemoteMemory& memory, uint32_t state) const;
  void stop_agent() const;
  bool is_used(const RemoteMemory& memory, const StoppedThread& thread, const Changes& changes) const;
  bool may_unwind(const RemoteMemory& memory, const StoppedThread& thread, const Changes& changes) const;
  bool is_unwinder_entered() const;
  void put_back_unwinder(Restored* restored) const;

  pid_t pid_;
  uint64_t attachment_, sigreturn_;
  std::vector<RemoteRange> system_code_, unwinder_;
  mutable std::chrono::nanoseconds longest_stop_{};  // of all threads, by while_stopped()
};

}  // namespace penna

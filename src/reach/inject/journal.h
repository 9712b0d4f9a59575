// SPDX-License-Identifier: MIT
// Journal: the changes that an agent loaded into a running process wants made there, and their undoing at the end
// (penna/detail/attach.h).
//
// Invariant: changes are made while every thread is stopped, and none is in the middle of the code that changes. A
// place that holds neither the original nor what we wrote has been changed by something else: it is left alone and
// counted.
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
#include "reach/process/remote_libraries.h"
#include "reach/process/stopped_process.h"

namespace penna {

class Journal {
 public:
  // `sigreturn`: where signal handlers return to. `system_code`: that of libc and the dynamic linker.
  Journal(pid_t pid, RemotePtr<penna_attachment> attachment, CodePtr sigreturn, std::vector<RemoteRange> system_code)
      : pid_(pid), attachment_(attachment), sigreturn_(sigreturn), system_code_(std::move(system_code)) {}
  // The journal of a process forked by this one: it is at the same address.
  Journal of(pid_t child) const {
    Journal its(child, attachment_, sigreturn_, system_code_);
    its.unwinder_ = unwinder_;
    return its;
  }
  // For a program entered by a standalone agent: the functions of its unwinder.
  void set_unwinder(std::vector<RemoteRange> functions) { unwinder_ = std::move(functions); }

  enum class State {
    kOtherProgram,  // by exec: the process has no journal
    kInForce,
    kTakenBack,  // by put_back(), completely
  };
  // Error: the process may not be read, or has ended.
  Result<State> state() const;

  // The changes that the agent has noted, in order; mappings are not included. Error: there is no journal.
  Result<std::vector<penna_change>> planned() const;
  // Where a call that a stop of ours has cut is finished (cut_call_x86_64.h): not in the agent, which is to leave.
  CodePtr finisher(const RemoteMemory& memory) const;
  // Makes the changes that the agent has noted. The error is a sentence: no change was made. `objection`: called while
  // all threads stand still; if it returns a sentence, that is the error.
  Result<> write_all(const std::function<std::string()>& objection) const;
  // Undoes all changes; the agent no longer records, and threads have no chunks: late events are dropped. Error: not
  // everything was undone; what is left does nothing.
  Result<Restored> put_back() const;
  // Whether what put_back() had to leave for waiting threads can be restored now.
  bool finish_putting_back() const {
    Restored rest;
    put_back_unwinder(&rest);
    return rest.waiting == 0 && rest.trouble.empty();
  }
  // Calls work(memory, process, head) while all threads are stopped, and none runs code of the agent or is about to
  // return to it. Error: that did not happen. work() returns any further obstacle for now; empty: none.
  using Work = std::function<std::string(const RemoteMemory&, const StoppedProcess&, const penna_attachment&)>;
  Result<> while_unused(const Work& work) const;
  // The common part of the sentences that report this: some thread never left the code.
  static constexpr const char* kIsAlways = " is always ";

 private:
  struct Changes;
  // Returns the obstacle for now, as text to follow "is always "; empty on success.
  using Attempt = std::function<std::string(const RemoteMemory&, const StoppedProcess&, const Changes&)>;
  Result<> while_stopped(const Attempt& attempt) const;
  bool is_amid_place(const RemoteMemory& memory, const StoppedProcess& process, const Changes& changes) const;
  std::string undo_rest(const RemoteMemory& memory, const StoppedProcess& process, Changes changes,
                        Restored* restored) const;
  Result<> while_left(const Attempt& attempt) const;
  void set_state(const RemoteMemory& memory, uint32_t state) const;
  void stop_agent() const;
  bool is_used(const RemoteMemory& memory, const StoppedThread& thread, const Changes& changes) const;
  bool may_unwind(const RemoteMemory& memory, const StoppedThread& thread, const Changes& changes) const;
  bool is_unwinder_entered() const;
  void put_back_unwinder(Restored* restored) const;

  pid_t pid_;
  RemotePtr<penna_attachment> attachment_;
  CodePtr sigreturn_;
  std::vector<RemoteRange> system_code_, unwinder_;
  mutable std::chrono::nanoseconds longest_stop_{};  // of all threads, measured by while_stopped()
};

}  // namespace penna

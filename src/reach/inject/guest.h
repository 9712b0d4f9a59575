// SPDX-License-Identifier: MIT
// The guest: a thread that we create in another process, which loads the agent there and lets it connect to us, then
// ends.
//
// Why not one of the process's own threads: whatever that is doing, it may hold a lock that dlopen or malloc needs. The
// guest holds none, and waits for them like any other thread. libc does not know of it; its thread-local storage is
// made here, as libc would make it.
// Invariant: its memory stays after it has ended: libc's data about a thread that used malloc is in there, and the next
// guest continues with it. Layout and code: guest_x86_64.cc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "penna/detail/attach.h"
#include "reach/process/remote_libraries.h"

namespace penna {

// Addresses and offsets in the process that the guest needs.
struct GuestNeeds {
  CodePtr dlopen, dlsym, dlerror, ctype_init;  // null: not needed (standalone_program.h)
  // For struct pthread, and for link_map: nptl's own descriptions for debuggers (libthread_db).
  uint32_t pthread_bytes = 0, tid_at = 0, dtv_at = 0, tls_offset_at = 0;
  int64_t rseq_at = 0;                    // from the thread pointer; 0: libc does not register rseq
  RemotePtr<uint8_t> single_threaded[2];  // libc's byte for "single-threaded", and the program's copy of it
};
// The error is text to follow "process N ".
Result<GuestNeeds> find_guest_needs(const RemoteMemory& memory, const std::vector<RemoteLibrary>& libraries,
                                    const RemoteLibrary& libc);
// How far below the thread pointer the library's thread-local variables are; 0 and below: not in every thread. Empty:
// it cannot be read.
std::optional<int64_t> tls_offset_of(const RemoteMemory& memory, const RemoteLibrary& library, uint32_t tls_offset_at);

// Where the guest's code and memory are in the process, and its task.
struct GuestPlace {
  RemoteBytes code;
  RemoteBytes memory;
};

struct GuestTexts {
  std::string socket;  // of the recorder
  std::string agent;   // its path, for programs that the process starts
};

class Guest {
 public:
  static constexpr uint64_t kCodeBytes = 4096, kMemoryBytes = 64 << 20;

  explicit Guest(GuestPlace place) : place_(place) {}
  const GuestPlace& place() const { return place_; }
  RemotePtr<penna_attachment> attachment() const;
  RemotePtr<uint64_t> stack() const;   // for clone(2)
  RemoteBytes thread_pointer() const;  // likewise
  RemotePtr<uint32_t> tid(const GuestNeeds& needs) const { return (thread_pointer() + needs.tid_at).as<uint32_t>(); }
  RemotePtr<uint32_t> ended() const;  // nonzero while the guest runs

  // Where finishing_code() is, for threads that were stopped (cut_call_x86_64.h). Null: it is not there.
  CodePtr finisher(const RemoteMemory& memory) const;

  // The guest whose memory contains this attachment.
  static Guest of(const RemoteMemory& memory, RemotePtr<penna_attachment> attachment);

  // Whether it still runs.
  bool is_running(const RemoteMemory& memory) const;

  // Writes code and memory. `like`: the thread pointer of a thread that libc has made. `agent_fd`: in the process,
  // through which the agent is loaded under a name in kAgentFolder that leaves room for its real one; if the agent is
  // already loaded, `attach` is its penna_agent_attach, and there is no descriptor.
  static constexpr char kAgentFolder[] = "/proc/thread-self/fd/";
  bool prepare(const RemoteMemory& memory, const std::vector<RemoteLibrary>& libraries, const GuestNeeds& needs,
               RemoteBytes like, int agent_fd, CodePtr attach, const GuestTexts& texts) const;
  // The same for a guest that was there before: everything that libc knows about it stays.
  bool prepare_again(const RemoteMemory& memory, CodePtr attach, const GuestTexts& texts) const;

  // For a prepared guest: penna_agent_attach, if it becomes known only now.
  bool set_attach(const RemoteMemory& memory, CodePtr attach) const;
  // For a prepared guest: penna_attachment::refusals.
  bool set_refusals(const RemoteMemory& memory, uint32_t refusals) const;

  // Lets a running guest begin. It waits about 20 s for that, so that slow work can be done while no thread of the
  // process is held.
  bool go(const RemoteMemory& memory) const;

  // The result of its work. No value: not done yet. Empty: success; else the reason, as text to follow "process N ".
  std::optional<std::string> outcome(const RemoteMemory& memory) const;

 private:
  GuestPlace place_;
};

}  // namespace penna

// SPDX-License-Identifier: MIT
// The guest: a thread of our making in another process, which loads the agent there and lets it meet us, then ends.
//
// Why not one of the process's own threads: whatever it is in the middle of, it may hold a lock that dlopen or malloc
// wants. The guest holds none, and waits for them like any other. It is not libc's: libc does not know of it, and its
// thread-local storage is made here, as libc would make it.
// Invariant: its memory stays when it has ended: what libc remembers of a thread that used malloc lies there, and the
// next guest goes on with it. Layout and code: guest_x86_64.cc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "penna/detail/attach.h"
#include "reach/remote_libraries.h"

namespace penna {

// What the guest needs of the process.
struct GuestNeeds {
  uint64_t dlopen = 0, dlsym = 0, dlerror = 0, ctype_init = 0;  // 0: it does without (alone_program.h)
  // Of struct pthread, and of link_map: nptl's own descriptions for debuggers (libthread_db).
  uint32_t pthread_bytes = 0, tid_at = 0, dtv_at = 0, tls_offset_at = 0;
  int64_t rseq_at = 0;               // from the thread pointer; 0: libc does not register any
  uint64_t single_threaded[2] = {};  // libc's byte that says so, and the program's copy of it
};
// Error, as words that follow "process N ".
Result<GuestNeeds> find_guest_needs(const RemoteMemory& memory, const std::vector<RemoteLibrary>& libraries,
                                    const RemoteLibrary& libc);

// Where the guest's code and memory lie in the process, and what it is to do.
struct GuestPlace {
  uint64_t code = 0;
  uint64_t memory = 0;
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
  uint64_t attachment() const;
  uint64_t stack() const;           // of clone(2)
  uint64_t thread_pointer() const;  // the same
  uint64_t tid(const GuestNeeds& needs) const { return thread_pointer() + needs.tid_at; }
  uint64_t ended() const;  // a word that is not 0 as long as it runs

  // Of an attachment that lies in a guest's memory.
  static Guest of(const RemoteMemory& memory, uint64_t attachment);

  // Does it still run?
  bool is_running(const RemoteMemory& memory) const;

  // Writes code and memory. `like`: the thread pointer of a thread that libc has made. `agent_fd`: in the process, by
  // which the agent is loaded with a name in kAgentFolder that has room for its real one; where it is loaded already,
  // `attach` is its penna_agent_attach, and there is no descriptor.
  static constexpr char kAgentFolder[] = "/proc/self/fd/";
  bool prepare(const RemoteMemory& memory, const std::vector<RemoteLibrary>& libraries, const GuestNeeds& needs,
               uint64_t like, int agent_fd, uint64_t attach, const GuestTexts& texts) const;
  // The same of one that has been there before: all that libc knows of it stays.
  bool prepare_again(const RemoteMemory& memory, uint64_t attach, const GuestTexts& texts) const;

  // Of the prepared one: penna_agent_attach, where it is known only now.
  bool say_attach(const RemoteMemory& memory, uint64_t attach) const;
  // Of the prepared one: penna_attachment::refusals.
  bool say_refusals(const RemoteMemory& memory, uint32_t refusals) const;

  // Once it runs: it may begin. It waits for that for about 5 s, so that what takes long can be done while no thread
  // of the process is held.
  bool go(const RemoteMemory& memory) const;

  // Has it done its work? Nothing: not yet. Empty: it has; else why it has not, as words behind "process N ".
  std::optional<std::string> outcome(const RemoteMemory& memory) const;

 private:
  GuestPlace place_;
};

}  // namespace penna

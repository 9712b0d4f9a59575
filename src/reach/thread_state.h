// SPDX-License-Identifier: MIT
// ThreadState: what a stopped thread is in the middle of, how it is led elsewhere, and how it is put back.
//
// Invariant: a thread that was led away has on its stack all that it needs to come home by itself
// (penna/detail/remote.h), before it goes a step. All calls from the thread of ours that traces it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "reach/arch.h"
#include "reach/remote_call.h"

namespace penna {

class ThreadState {
 public:
  // False: it is of another kind of process (32 bits), or gone.
  bool save(pid_t thread);
  // The registers last: until they are back, the thread finds home by itself if we are killed.
  bool restore(pid_t thread);
  // Makes the thread continue at the code, with every signal blocked: also that of a fault of its own that waits for it
  // by now. The mask last: nobody would put it back if we were killed before the thread has a frame to come home by.
  bool redirect(pid_t thread, const RemoteCode& code);
  // Is it in such code still, or again on its way home, as whoever sent it there was killed? Its frame lies where ours
  // would.
  bool is_away(const RemoteCode& code) const;
  // Has it gone home by itself, as it waited for us too long?
  bool went_home(pid_t thread) const;
  // Is the thread, as it is now, in the loop at the end of the code?
  static bool is_at_end(pid_t thread, const RemoteCode& code);

 private:
  bool ended_by_our_stop() const;
  GeneralRegisters without_our_stop(pid_t thread, bool* sleeps) const;

  GeneralRegisters general_{};
  std::vector<uint8_t> vector_;
  uint64_t mask_ = 0;
  RemotePtr<uint64_t> home_;
};

}  // namespace penna

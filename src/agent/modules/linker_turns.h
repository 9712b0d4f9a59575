// SPDX-License-Identifier: MIT
// Which threads are inside dlopen or dlclose, and when the agent itself may call the dynamic linker.
//
// Why: constructors and destructors run under the linker's lock, and may wait there for something that another thread
// does next. If that thread waited for the lock because of the agent, the program would deadlock.
// Invariant: no thread calls the linker for the agent while another one is in such a call by the program.
#pragma once

#include <stdint.h>

namespace penna::agent {

// For all threads; survives when the agent is started again (penna/detail/attach.h).
struct ThreadsInLinker {
  uint32_t stays, turns;
};
#pragma GCC visibility push(hidden)
extern ThreadsInLinker threads_in_linker;
#pragma GCC visibility pop

// A dlopen or dlclose by the program, until the agent has finished its work after it. Not in signal handlers.
class LinkerStay {
 public:
  LinkerStay();
  ~LinkerStay();
  LinkerStay(const LinkerStay&) = delete;
  LinkerStay& operator=(const LinkerStay&) = delete;
};
// The same for a call whose end another thread has to notice (passed_opens.h).
void begin_linker_stay();
void end_linker_stay();

// Whether any thread is inside; this thread's innermost call does not count.
bool anyone_in_linker();
bool others_in_linker();

// Permission to call the linker, for as long as this object lives: other threads that enter dlopen wait meanwhile. Not
// in signal handlers.
class LinkerTurn {
 public:
  LinkerTurn();
  ~LinkerTurn();
  LinkerTurn(const LinkerTurn&) = delete;
  LinkerTurn& operator=(const LinkerTurn&) = delete;
  explicit operator bool() const { return taken_; }

 private:
  bool taken_;
};

// Closes one of the agent's handles: now, or once the last call under way has ended. May run destructors.
void close_in_turn(void* handle);

// In a forked child: the parent's other threads do not exist here.
void forget_linker_stays();

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// Who is inside dlopen or dlclose, and when the agent may call the dynamic linker by itself.
//
// Why: constructors and destructors run under the linker's lock, and may wait there for whatever another thread does
// next. If that thread waited for the lock on our behalf, the program would hang as it does not without us.
// Invariant: no thread calls the linker for the agent while another one is in such a call of the program's.
#pragma once

#include <stdint.h>

namespace penna::agent {

// A dlopen or dlclose of the program's, until what the agent does behind it is done. Not in signal handlers.
class LinkerStay {
 public:
  LinkerStay();
  ~LinkerStay();
  LinkerStay(const LinkerStay&) = delete;
  LinkerStay& operator=(const LinkerStay&) = delete;
};
// The same where the end is another thread's to notice (passed_opens.h).
void begin_linker_stay();
void end_linker_stay();

// Is any thread inside; or any call besides the innermost of this one?
bool anyone_in_linker();
bool others_in_linker();

// Permission to call the linker, for as long as this object lives: whoever wants to enter dlopen waits meanwhile. Not
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

// Gives a handle of the agent's back: now, or when the last call that is under way has ended. May run destructors.
void close_in_turn(void* handle);

// In a forked child: its parent's other threads are not here.
void forget_linker_stays();

}  // namespace penna::agent

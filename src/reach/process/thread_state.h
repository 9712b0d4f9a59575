// SPDX-License-Identifier: MIT
// ThreadState: the state of a stopped thread, and the means to redirect and restore it.
//
// Invariant: before a redirected thread takes a step, its stack holds everything it needs to return by itself
// (penna/detail/remote.h). All calls are made on our thread that traces it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reach/process/arch.h"
#include "reach/process/home_frame_x86_64.h"
#include "reach/process/remote_call.h"
#include "reach/process/remote_memory.h"

namespace penna {

class ThreadState {
 public:
  // False: another kind of process (32 bits), or it is gone.
  bool save(pid_t thread);
  // Restores the registers last: until then, the thread returns by itself if we are killed.
  bool restore(pid_t thread);
  // Makes the thread continue at the code, with every signal blocked, even a pending fault of its own. The mask is set
  // last: nothing would restore it if we were killed before the thread has its frame.
  bool redirect(pid_t thread, const RemoteCode& code);
  // Whether it is still in such code, or returning because the recorder that sent it there was killed: its frame is
  // where ours would be.
  bool is_away(const RemoteCode& code) const;
  // Whether it has returned by itself, because it waited too long for us.
  bool has_returned(pid_t thread) const;
  // From here on, a system call that the stop has cut is finished there (cut_call_x86_64.h). Null: it is not.
  void finish_calls_at(CodePtr code) { finisher_ = code; }
  // Only the registers, for a thread that is only examined.
  bool save_registers(pid_t thread);
  // For such a thread: as if it had not been stopped.
  bool undo_stop(pid_t thread) const;
  // For such a thread, stopped outside of system calls: it continues there. False: it is gone.
  bool go_on_at(pid_t thread, CodePtr pc) const;
  CodePtr pc() const;
  RemoteBytes stack() const;
  RemoteBytes thread_pointer() const;
  // The number of the system call that it is in.
  std::optional<uint64_t> system_call() const;
  // Whether the kernel remembers how much of its system call is left. Any other call makes it forget that.
  bool sleeps() const;
  // The data on its stack, below its own red zone, by which it returns by itself.
  ReturnFrame frame_at_home(pid_t thread) const;

  // Whether the thread is now in the loop at the end of the code.
  static bool is_at_end(pid_t thread, const RemoteCode& code);

 private:
  bool ended_by_our_stop(pid_t thread) const;
  GeneralRegisters without_our_stop(pid_t thread, bool* sleeps) const;

  std::optional<GeneralRegisters> with_rest_of_call(pid_t thread, uint64_t below) const;
  std::optional<GeneralRegisters> gone_on_with(pid_t thread, uint64_t below) const;

  GeneralRegisters general_{};
  std::vector<uint8_t> vector_;
  uint64_t mask_ = 0;
  RemotePtr<uint64_t> home_;
  CodePtr finisher_;
  mutable std::optional<GeneralRegisters> rest_;  // with_rest_of_call(), once it has changed the stack
};

// A stopped thread's stack from its stack pointer up, at most `most` bytes. The stack of a thread made by libc ends
// below the target of its thread pointer, the first thread's at the end of the mapping.
std::string stack_of(const RemoteMemory& memory, const ThreadState& thread, uint64_t most);

// Where the signal handlers on a stopped thread's stack will return to. `sigreturn`: the code that handlers return to,
// whose address each frame holds. Examines some 64 KiB; a word that only looks like a frame adds one more address.
std::vector<CodePtr> interrupted_pcs(const RemoteMemory& memory, const ThreadState& thread, CodePtr sigreturn);
// Erases these frames. For a thread that will never return to them.
void forget_signal_frames(const RemoteMemory& memory, const ThreadState& thread, CodePtr sigreturn);

}  // namespace penna

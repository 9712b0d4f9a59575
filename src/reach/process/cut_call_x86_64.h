// SPDX-License-Identifier: MIT
// CutCall: a system call that our stop ended when it had transferred a part of what it was to.
//
// Why: the kernel restarts calls that have transferred nothing (signal(7)). Others return how much they have, and most
// programs do not expect less than all where no handler of theirs has run. So the thread performs the rest in code of
// ours, which returns the sum.
// Invariant: only calls that nothing but a signal ends early. Of a pipe, a socket or a terminal that does not block,
// and of a read without MSG_WAITALL, a part is what the program asked for.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/remote_ptr.h"
#include "reach/process/arch.h"

namespace penna {

class CutCall {
 public:
  // `at`: the registers of a thread that we trace and have stopped right behind a system call.
  static std::optional<CutCall> find(pid_t thread, const GeneralRegisters& at);
  // The registers to continue with; what the code needs is put on the thread's stack, `below` bytes below its red zone.
  // `code`: where the process has finishing_code(). Empty: there is no memory.
  std::optional<GeneralRegisters> finish(pid_t thread, CodePtr code, uint64_t below) const;

 private:
  explicit CutCall(const GeneralRegisters& at) : at_(at), rest_(at) {}
  bool cut_vector(pid_t thread);

  GeneralRegisters at_, rest_;
  std::vector<iovec> parts_;  // of writev
};

// Whether the thread waits in a call that may be cut: to be left alone if another one will do.
bool may_be_cut(pid_t pid, pid_t thread);

// Position-independent. A thread in it may stay there as long as the call lasts.
std::span<const uint8_t> finishing_code();
// Where the agent has it, before code of PENNA_REMOTE_CODE's; null: it is another agent.
CodePtr finishing_code_before(pid_t thread, CodePtr entry);

}  // namespace penna

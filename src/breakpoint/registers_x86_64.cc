// SPDX-License-Identifier: MIT
// See registers_x86_64.h.
#include "breakpoint/registers_x86_64.h"

#include <fmt/core.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>

#include "base/memory_ranges.h"

namespace penna {

uint64_t Registers::numbered(uint8_t number) const {
  // In machine code's numbering (probe_operand.h), which differs from user_regs_struct's order.
  const uint64_t values[] = {all_.rax, all_.rcx, all_.rdx, all_.rbx, all_.rsp, all_.rbp, all_.rsi, all_.rdi,
                             all_.r8,  all_.r9,  all_.r10, all_.r11, all_.r12, all_.r13, all_.r14, all_.r15};
  return number < std::size(values) ? values[number] : 0;  // ProbeOperand::kNone
}

std::optional<uint64_t> Registers::value(const ProbeOperand& operand, const RemoteMemory& memory) const {
  uint64_t bits = 0;
  switch (operand.kind) {
    case ProbeOperand::kConstant: bits = static_cast<uint64_t>(operand.number); break;
    case ProbeOperand::kRegister: bits = numbered(operand.base) >> (operand.is_high ? 8 : 0); break;
    case ProbeOperand::kMemory: {
      const uint64_t at =
          numbered(operand.base) + numbered(operand.index) * operand.scale + static_cast<uint64_t>(operand.number);
      uint8_t bytes[sizeof bits] = {};
      if (!memory.read(RemoteBytes(at), {bytes, operand.bytes})) return {};
      std::memcpy(&bits, bytes, sizeof bits);
    }
  }
  // Shifted up and down again: the right shift extends with the sign, or with zeros, from the operand's own size.
  const unsigned unused = 64 - operand.bytes * 8u;
  if (unused == 0) return bits;
  return operand.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused)
                           : bits << unused >> unused;
}

void Registers::prepare_system_call(uint64_t instruction, long number, const uint64_t (&arguments)[6]) {
  all_.rip = instruction;
  all_.rax = static_cast<uint64_t>(number);
  all_.orig_rax = ~uint64_t{0};  // not in a call that would be restarted
  all_.rdi = arguments[0], all_.rsi = arguments[1], all_.rdx = arguments[2];
  all_.r10 = arguments[3], all_.r8 = arguments[4], all_.r9 = arguments[5];
}

// False: the thread has ended. `stopped`: it got SIGSTOP, which nobody can block.
static bool step(pid_t thread, bool* stopped) {
  int status = 0;
  pid_t got = -1;
  if (!traced(PTRACE_SINGLESTEP, thread, 0, 0)) return false;
  do got = ::waitpid(thread, &status, __WALL);
  while (got < 0 && errno == EINTR);
  *stopped |= got == thread && status == W_STOPCODE(SIGSTOP);
  return got == thread && WIFSTOPPED(status);
}

// By single steps, until the instruction has been executed: the first step may only end the call that the thread was
// in. The return path of reach/process/borrowed_thread.h needs code of libc's, and is for recorders that may be killed;
// a guardian that is killed leaves breakpoints in any case.
std::optional<int64_t> make_system_call(pid_t thread, uint64_t instruction, long number,
                                        const uint64_t (&arguments)[6]) {
  constexpr int kMostSteps = 16;
  std::optional<Registers> before = Registers::of(thread);
  // No handler may run on these registers. Faults are not expected: the instruction touches no memory. SIGTRAP is what
  // a step ends with: the kernel takes away the program's handler if that is blocked.
  const auto mask = blocked_signals(thread);
  if (!before || instruction == 0 || !mask || !block_signals(thread, kAllSignals & ~kTrapSignal)) return {};
  Registers there = *before;
  there.prepare_system_call(instruction, number, arguments);
  std::optional<int64_t> result;
  bool alive = there.set(thread), stopped = false;
  for (int i = 0; alive && !result && i < kMostSteps; ++i) {
    alive = step(thread, &stopped);
    const auto now = alive ? Registers::of(thread) : std::nullopt;
    if (now && now->pc() != instruction) result = static_cast<int64_t>(now->result());
  }
  if (!alive) return {};
  block_signals(thread, *mask);
  before->set(thread);
  if (stopped) ::syscall(SYS_tkill, thread, SIGSTOP);
  return result;
}

// The vDSO's, if it has one: it is small. Else the first in the program.
uint64_t find_system_call(pid_t pid, const RemoteMemory& memory) {
  constexpr size_t kMost = size_t{16} << 20;
  std::vector<MemoryRange> ranges = memory_ranges(pid);
  std::stable_partition(ranges.begin(), ranges.end(), [](const MemoryRange& range) { return range.name == "[vdso]"; });
  for (const MemoryRange& range : ranges) {
    if (!range.executable) continue;
    // The bytes may be the middle of another instruction: for execution that makes no difference.
    const std::string bytes = memory.part(RemoteBytes(range.start), std::min<size_t>(range.end - range.start, kMost));
    if (const size_t at = bytes.find("\x0f\x05"); at != bytes.npos) return range.start + at;
  }
  return 0;
}

}  // namespace penna

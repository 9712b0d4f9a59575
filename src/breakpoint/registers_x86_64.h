// SPDX-License-Identifier: MIT
// The registers of a stopped thread, interpreted by the calling convention. References: ptrace(2); the x86-64 psABI,
// section 3.2.
//
// Invariant: used by our thread that traces it, while it is stopped.
#pragma once

#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "breakpoint/remote_stack.h"
#include "plan/probe_operand.h"
#include "reach/process/arch.h"
#include "reach/process/remote_memory.h"
#include "reach/process/traced.h"

namespace penna {

class Registers {
 public:
  static std::optional<Registers> of(pid_t thread) {
    Registers registers;
    if (!traced(PTRACE_GETREGS, thread, 0, reinterpret_cast<uintptr_t>(&registers.all_))) return {};
    return registers;
  }
  // Copied earlier: the first words of a user_regs_struct, up to ss.
  static Registers of_words(const uint64_t (&words)[21]) {
    Registers registers;
    std::memcpy(&registers.all_, words, sizeof words);
    return registers;
  }
  bool set(pid_t thread) { return traced(PTRACE_SETREGS, thread, 0, reinterpret_cast<uintptr_t>(&all_)); }
  // Only the program counter.
  static bool set_pc(pid_t thread, uint64_t pc) {
    return traced(PTRACE_POKEUSER, thread, offsetof(user, regs) + offsetof(user_regs_struct, rip), pc);
  }

  uint64_t pc() const { return all_.rip; }
  uint64_t sp() const { return all_.rsp; }
  uint64_t result() const { return all_.rax; }
  // For a function that has just been entered: its arguments 0 to 3, and the address of its return address. psABI
  // 3.2.3: class INTEGER, which is all that is needed here.
  uint64_t argument(int number) const {
    const uint64_t values[] = {all_.rdi, all_.rsi, all_.rdx, all_.rcx};
    return values[number];
  }
  uint64_t return_slot() const { return all_.rsp; }
  // For a function that has just returned: where its return address was.
  uint64_t left_slot() const { return all_.rsp - 8; }
  // At the first instruction, rbp is still the caller's, and the return address is on top of its frame.
  WalkStart caller(uint64_t return_address) const { return {return_address, all_.rsp + 8, all_.rbp, false}; }
  WalkStart here(uint64_t pc) const { return {pc, all_.rsp, all_.rbp, true}; }

  // Empty: it is in unreadable memory.
  std::optional<uint64_t> value(const ProbeOperand& operand, const RemoteMemory& memory) const;
  // The caller writes the return address to the new stack pointer.
  void call(uint64_t target) {
    all_.rsp -= 8;
    all_.rip = target;
  }
  // For a system call by the instruction at `instruction`.
  void prepare_system_call(uint64_t instruction, long number, const uint64_t (&arguments)[6]);

 private:
  uint64_t numbered(uint8_t number) const;
  user_regs_struct all_{};
};

// Makes the stopped thread, by itself, perform a system call that does not sleep, with an existing instruction, and
// restores it. Empty: impossible, or the thread has ended.
std::optional<int64_t> make_system_call(pid_t thread, uint64_t instruction, long number,
                                        const uint64_t (&arguments)[6]);
// The run-time address of such an instruction; 0: not found.
uint64_t find_system_call(pid_t pid, const RemoteMemory& memory);

}  // namespace penna

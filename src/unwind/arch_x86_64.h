// SPDX-License-Identifier: MIT
// x86-64 as the unwinder sees it. https://gitlab.com/x86-psABIs/x86-64-ABI, section 3.2 and 6.2 (DWARF numbers, CFA).
//
// `call` pushes the return address, so the CFA (the caller's sp after the return) is one word above it: the return
// address of every frame lies at CFA - 8. DWARF numbers: rbp 6, rsp 7, return address 16.
// A signal frame, seen from the restorer that the handler returns to (sp points at the ucontext then):
//
//   sp +   0  uc_flags, uc_link, uc_stack      (40 bytes)
//   sp +  40  gregs: r8 … r15 (64), rdi 104, rsi 112, rbp 120, rbx 128, rdx 136, rax 144, rcx 152, rsp 160, rip 168
//
// Invariant: nothing here calls libc or touches errno.
#pragma once

#include <sys/syscall.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace penna::unwind {

// Where a walk starts: the innermost frame to report.
struct Registers {
  uintptr_t pc = 0;
  uintptr_t sp = 0;
  uintptr_t fp = 0;
  bool exact = false;  // pc is an interrupted instruction; false: pc is a return address, its call lies before it
};

struct Arch {
  static constexpr uint64_t kDwarfFp = 6, kDwarfSp = 7, kDwarfReturn = 16;
  static constexpr int64_t kReturnFromCfa = -8;                                // the return address is at CFA + this
  static constexpr int64_t kSignalFp = 120, kSignalSp = 160, kSignalPc = 168;  // from sp in the restorer
  static constexpr int kPcBits = 48;  // user addresses lie below 2^47, or 2^56 on request: those are not cached
};
static_assert(offsetof(ucontext_t, uc_mcontext.gregs) + REG_RBP * 8 == Arch::kSignalFp);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs) + REG_RSP * 8 == Arch::kSignalSp);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs) + REG_RIP * 8 == Arch::kSignalPc);

// The frame of a hook, as rbp points to it: it shows where the hook's caller continues.
struct HookFrame {
  uintptr_t caller_fp, caller_pc;

  // The frame of the function that this is inlined into. Asking for its address makes the compiler keep a frame pointer
  // in that function, whatever its flags.
  [[gnu::always_inline]] static const HookFrame* here() {
    return static_cast<const HookFrame*>(__builtin_frame_address(0));
  }
  Registers caller() const { return {caller_pc, reinterpret_cast<uintptr_t>(this + 1), caller_fp, false}; }
};

// The caller of the function that this is inlined into.
[[gnu::always_inline]] inline Registers caller_registers() { return HookFrame::here()->caller(); }

// The interrupted frame, from the third argument of an SA_SIGINFO handler.
inline Registers interrupted_registers(const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  return {static_cast<uintptr_t>(registers[REG_RIP]), static_cast<uintptr_t>(registers[REG_RSP]),
          static_cast<uintptr_t>(registers[REG_RBP]), true};
}

// The thread control block: glibc puts it on top of the stacks that it makes.
inline uintptr_t thread_pointer() {
  uintptr_t value;
  asm("mov %%fs:0, %0" : "=r"(value));
  return value;
}

// True when the 8 bytes at `address` (aligned) can be read. rt_sigprocmask copies its set from user memory before it
// rejects the invalid `how`: EFAULT means unreadable, EINVAL readable; the mask does not change. No seccomp filter
// forbids it.
inline bool raw_probe(uintptr_t address) {
  long result;
  register long size asm("r10") = 8;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(long{SYS_rt_sigprocmask}), "D"(~0L), "S"(address), "d"(0L), "r"(size)
               : "rcx", "r11", "memory");
  constexpr long kInvalid = -22;
  return result == kInvalid;
}

// A system call without arguments.
inline long raw_call(long number) {
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
  return result;
}
inline bool is_main_thread() { return raw_call(SYS_gettid) == raw_call(SYS_getpid); }

inline constexpr size_t kLongestCall = 7;

// Bytes of a call through a register or memory (ff /2), by its bytes after the opcode, without prefixes.
inline size_t indirect_call_length(uint8_t modrm, uint8_t sib) {
  const unsigned mode = modrm >> 6;
  const bool has_sib = mode != 3 && (modrm & 7) == 4;
  const bool has_long_offset = mode == 2 || (mode == 0 && ((modrm & 7) == 5 || (has_sib && (sib & 7) == 5)));
  return 2 + has_sib + (mode == 1 ? 1 : 0) + (has_long_offset ? 4 : 0);
}

// True when a call instruction may end at `code`; reads the kLongestCall bytes before it.
inline bool preceded_by_call(const uint8_t* code) {
  if (code[-5] == 0xe8) return true;  // call rel32
  for (size_t length = 2; length <= kLongestCall; ++length) {
    const uint8_t* const call = code - length;
    if (call[0] == 0xff && (call[1] & 0x38) == 0x10 && indirect_call_length(call[1], call[2]) == length) return true;
  }
  return false;
}

// The target of a direct call that ends at `code`, or 0.
inline uintptr_t direct_call_target(const uint8_t* code) {
  if (code[-5] != 0xe8) return 0;
  int32_t distance;
  __builtin_memcpy(&distance, code - 4, sizeof distance);
  return reinterpret_cast<uintptr_t>(code) + static_cast<uintptr_t>(intptr_t{distance});
}

inline constexpr size_t kLongestFrameBuilder = 12, kEndbrBytes = 4;

// mov %rsp,%rbp, in both encodings.
inline bool sets_frame_pointer(const uint8_t* code) {
  return code[0] == 0x48 && ((code[1] == 0x89 && code[2] == 0xe5) || (code[1] == 0x8b && code[2] == 0xec));
}

// push %rbp; mov %rsp,%rbp: the beginning of a function that builds a frame, except for an endbr64. A cmpq stands
// between them in the function that calls a module's destructors; each module has one, without CFI (gcc's crtstuff.c).
inline bool builds_frame(const uint8_t* code) {
  const bool compares = code[1] == 0x48 && code[2] == 0x83 && code[3] == 0x3d;
  return code[0] == 0x55 && sets_frame_pointer(code + (compares ? 9 : 1));
}

// Stubs of a procedure linkage table (psABI 5.2), which lld and mold give no CFI. `stack` bytes lie between sp and CFA:
//
//   first:  push link_map(%rip)  16    later:  jmp *slot(%rip)   8       with IBT:  endbr64; push $index; jmp first
//           jmp *resolver(%rip)  24            push $index       8                  endbr64; jmp *slot(%rip)
//                                              jmp first        16
//
// `byte(i)` returns the byte at pc + i, 0 where that is not code. Returns 0 where no instruction of a stub is.
template <typename Byte>
int32_t cfa_of_plt_stub(Byte&& byte) {
  constexpr int kJump = 6, kPushIndex = 5;  // their lengths
  const auto memory_operand = [&](int at, int operation) { return byte(at) == 0xff && byte(at + 1) == operation; };
  const auto jumps = [&](int at) { return memory_operand(byte(at) == 0xf2 ? at + 1 : at, 0x25); };  // f2: bnd
  const auto pushes_index = [&](int at) { return byte(at) == 0x68 && byte(at + kPushIndex) == 0xe9; };
  if (byte(0) == 0xe9) return byte(-kPushIndex) == 0x68 ? 16 : 0;
  if (memory_operand(0, 0x35)) return jumps(kJump) ? 16 : 0;
  if (jumps(0)) return memory_operand(-kJump, 0x35) ? 24 : 8;
  const bool marked = byte(0) == 0xf3 && byte(1) == 0x0f && byte(2) == 0x1e && byte(3) == 0xfa;
  return pushes_index(0) || (marked && (jumps(kEndbrBytes) || pushes_index(kEndbrBytes))) ? 8 : 0;
}

}  // namespace penna::unwind

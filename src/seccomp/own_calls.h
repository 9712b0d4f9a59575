// SPDX-License-Identifier: MIT
// The system calls that the agent makes, and how a seccomp filter answers them. Used by the agent, which sees a filter
// being installed, and by a recorder that attaches to a process that has one. C++17.
//
// Why in advance: a filter that kills gives no second chance.
// Invariant: no memory but the filter's code is read. References: linux/filter.h; seccomp(2).
#pragma once

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace penna {

// ---- The machine ----------------------------------------------------------------------------------------------------

struct FilterMachine {
  // The classic BPF machine: accumulator, index, scratch words. Numbers are 32-bit and wrap.
  uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {};

  void compute(uint16_t code, uint32_t k) {
    const uint32_t by = BPF_SRC(code) == BPF_X ? x : k;
    switch (BPF_OP(code)) {
      case BPF_ADD: a += by; break;
      case BPF_SUB: a -= by; break;
      case BPF_MUL: a *= by; break;
      case BPF_DIV: a = by != 0 ? a / by : 0; break;
      case BPF_OR: a |= by; break;
      case BPF_AND: a &= by; break;
      case BPF_XOR: a ^= by; break;
      case BPF_LSH: a = by < 32 ? a << by : 0; break;
      case BPF_RSH: a = by < 32 ? a >> by : 0; break;
      default: a = -a;  // BPF_NEG
    }
  }
  bool compare(uint16_t code, uint32_t k) const {
    const uint32_t with = BPF_SRC(code) == BPF_X ? x : k;
    switch (BPF_OP(code)) {
      case BPF_JEQ: return a == with;
      case BPF_JGT: return a > with;
      case BPF_JGE: return a >= with;
      default: return (a & with) != 0;  // BPF_JSET
    }
  }
  uint32_t load(uint16_t code, uint32_t k, const seccomp_data& call) const {
    uint32_t word = k;  // BPF_IMM
    // The kernel has checked indices when it installed the filter; even a stray one stays in bounds.
    if (BPF_MODE(code) == BPF_MEM) word = memory[k % BPF_MEMWORDS];
    if (BPF_MODE(code) == BPF_LEN) word = sizeof call;
    if (BPF_MODE(code) == BPF_ABS && k <= sizeof call - sizeof word)
      __builtin_memcpy(&word, reinterpret_cast<const uint8_t*>(&call) + k, sizeof word);
    return word;
  }
};

// Runs the filter on `call` and returns its SECCOMP_RET_* value. Jumps only go forward, so this terminates; one that
// runs off its end, which the kernel would not install, kills.
inline uint32_t filter_answer(const sock_filter* code, uint32_t length, const seccomp_data& call) {
  FilterMachine machine;
  for (uint64_t at = 0; at < length; ++at) {
    const sock_filter& step = code[at];
    switch (BPF_CLASS(step.code)) {
      case BPF_LD: machine.a = machine.load(step.code, step.k, call); break;
      case BPF_LDX: machine.x = machine.load(step.code, step.k, call); break;
      case BPF_ST: machine.memory[step.k % BPF_MEMWORDS] = machine.a; break;
      case BPF_STX: machine.memory[step.k % BPF_MEMWORDS] = machine.x; break;
      case BPF_ALU: machine.compute(step.code, step.k); break;
      case BPF_JMP:
        // Distances are unsigned, counted from the next step, and the loop's counter is wider than any: no jump
        // goes back.
        at += BPF_OP(step.code) == BPF_JA ? step.k : machine.compare(step.code, step.k) ? step.jt : step.jf;
        break;
      case BPF_RET: return BPF_RVAL(step.code) == BPF_A ? machine.a : step.k;
      default: BPF_MISCOP(step.code) == BPF_TAX ? machine.x = machine.a : machine.a = machine.x;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

// ---- Which calls are tried ------------------------------------------------------------------------------------------

// What the agent can no longer do, because the system call is fatal or fails.
enum CallRefusals : uint32_t {
  kRefusesStart = 1,      // meet the recorder, in this process's children and the programs that they exec
  kRefusesProgram = 16,   // the same, in exec'd programs only: a forked process inherits what is needed
  kRefusesRecording = 2,  // keep recording
  kRefusesCode = 4,       // inspect loaded code and patch it
  kRefusesCopies = 8,     // read memory that may be unmapped
  kRefusesGrowth = 32,    // make more of the channel accessible
};

// A system call that the agent makes, with the arguments that a filter may check, and what is impossible without it.
// `must_work`: also impossible if the call fails with an error instead of killing.
struct OwnCall {
  int number;
  const char* name;
  uint32_t without;
  bool must_work;
  uint64_t arguments[4];
};

// Whether the filter refuses it; `pc`: where it is made.
inline bool refuses_call(const sock_filter* code, uint32_t length, const OwnCall& own, uint64_t pc) {
  seccomp_data call{};
  call.nr = own.number;
  call.arch = AUDIT_ARCH_X86_64;
  call.instruction_pointer = pc;
  // Filters see addresses, but not what lies there: pointers are 0 here. None of the agent's calls has anything of note
  // in the last two arguments.
  for (int i = 0; i < 4; ++i) call.args[i] = own.arguments[i];
  switch (filter_answer(code, length, call) & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG: return false;
    case SECCOMP_RET_ERRNO:
    // Without a tracer that listens, the call fails with ENOSYS.
    case SECCOMP_RET_TRACE: return own.must_work;
    default: return true;  // kills the process or thread, raises SIGSYS, or asks a supervisor
  }
}

#define PENNA_OWN_CALL(name, ...) \
  { SYS_##name, #name, __VA_ARGS__ }

inline constexpr uint64_t kOwnDescriptor = 9, kOwnBytes = 4096;  // any will do
inline constexpr OwnCall kOwnCalls[] = {
    // Meeting the recorder.
    PENNA_OWN_CALL(socket, kRefusesStart, true, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}),
    PENNA_OWN_CALL(connect, kRefusesStart, true, {kOwnDescriptor}),
    PENNA_OWN_CALL(recvmsg, kRefusesStart, true, {kOwnDescriptor, 0, MSG_CMSG_CLOEXEC | MSG_WAITALL}),
    PENNA_OWN_CALL(recvfrom, kRefusesStart, true, {kOwnDescriptor}),
    PENNA_OWN_CALL(sendmsg, kRefusesStart, true, {kOwnDescriptor, 0, MSG_NOSIGNAL}),
    PENNA_OWN_CALL(memfd_create, kRefusesStart, true, {0, MFD_CLOEXEC | MFD_ALLOW_SEALING}),
    PENNA_OWN_CALL(ftruncate, kRefusesStart, true, {kOwnDescriptor, kOwnBytes}),
    PENNA_OWN_CALL(fcntl, kRefusesStart, true,
                   {kOwnDescriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL}),
    PENNA_OWN_CALL(mmap, kRefusesStart, true, {0, kOwnBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED}),
    PENNA_OWN_CALL(madvise, kRefusesProgram, true, {0, kOwnBytes, MADV_WIPEONFORK}),
    PENNA_OWN_CALL(setsockopt, kRefusesStart, false, {kOwnDescriptor, SOL_SOCKET, SO_RCVTIMEO}),
    PENNA_OWN_CALL(getsockopt, kRefusesStart, true, {kOwnDescriptor, SOL_SOCKET, SO_PEERCRED}),
    PENNA_OWN_CALL(close, kRefusesStart, false, {kOwnDescriptor}),
    PENNA_OWN_CALL(prlimit64, kRefusesStart, false, {0, RLIMIT_AS}),
    // Looking at programs before they are started, and starting in them.
    PENNA_OWN_CALL(getppid, kRefusesProgram, false, {}),
    PENNA_OWN_CALL(prctl, kRefusesProgram, false, {16 /* PR_GET_NAME */}),
    PENNA_OWN_CALL(openat, kRefusesProgram, false, {static_cast<uint64_t>(AT_FDCWD), 0, O_RDONLY | O_CLOEXEC}),
    PENNA_OWN_CALL(access, kRefusesProgram, false, {0, R_OK}),
    PENNA_OWN_CALL(access, kRefusesProgram, false, {0, X_OK}),
    PENNA_OWN_CALL(fstat, kRefusesProgram, false, {kOwnDescriptor}),
    PENNA_OWN_CALL(fstatfs, kRefusesProgram, false, {kOwnDescriptor}),
    PENNA_OWN_CALL(fgetxattr, kRefusesProgram, false, {kOwnDescriptor}),
    PENNA_OWN_CALL(prctl, kRefusesProgram, false, {39 /* PR_GET_NO_NEW_PRIVS */}),
    PENNA_OWN_CALL(getuid, kRefusesProgram, false, {}),
    PENNA_OWN_CALL(geteuid, kRefusesStart, true, {}),
    PENNA_OWN_CALL(getgid, kRefusesProgram, false, {}),
    PENNA_OWN_CALL(getegid, kRefusesProgram, false, {}),
    PENNA_OWN_CALL(readlink, kRefusesProgram, false, {}),
    PENNA_OWN_CALL(getcwd, kRefusesProgram, false, {0, kOwnBytes}),
    PENNA_OWN_CALL(membarrier, kRefusesProgram | kRefusesCode, false, {1 << 5 /* PRIVATE_EXPEDITED_SYNC_CORE */}),
    PENNA_OWN_CALL(clock_gettime, kRefusesProgram, false, {CLOCK_PROCESS_CPUTIME_ID}),
    // Locks that hold a process id, and writing to code (penna/detail/patch.h).
    PENNA_OWN_CALL(getpid, kRefusesStart | kRefusesRecording, false, {}),
    PENNA_OWN_CALL(openat, kRefusesProgram | kRefusesCode, false,
                   {static_cast<uint64_t>(AT_FDCWD), 0, O_RDWR | O_CLOEXEC}),
    PENNA_OWN_CALL(memfd_create, kRefusesProgram | kRefusesCode, false, {0, MFD_CLOEXEC}),
    PENNA_OWN_CALL(mmap, kRefusesProgram | kRefusesCode, false,
                   {0, kOwnBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED}),
    PENNA_OWN_CALL(mprotect, kRefusesProgram | kRefusesCode | kRefusesGrowth, false,
                   {0, kOwnBytes, PROT_READ | PROT_WRITE}),
    PENNA_OWN_CALL(mprotect, kRefusesProgram | kRefusesCode, false, {0, kOwnBytes, PROT_READ | PROT_EXEC}),
    PENNA_OWN_CALL(sched_yield, kRefusesProgram | kRefusesCode, false, {}),
    PENNA_OWN_CALL(nanosleep, kRefusesProgram | kRefusesCode, false, {}),
    PENNA_OWN_CALL(stat, kRefusesProgram | kRefusesCode, false, {}),
    PENNA_OWN_CALL(open, kRefusesProgram | kRefusesCode, false, {0, O_RDWR | O_CLOEXEC}),
    PENNA_OWN_CALL(pread64, kRefusesProgram | kRefusesCode, false, {kOwnDescriptor}),
    PENNA_OWN_CALL(pwrite64, kRefusesProgram | kRefusesCode, false, {kOwnDescriptor}),
    PENNA_OWN_CALL(process_vm_readv, kRefusesProgram | kRefusesCopies, false, {}),
    // Taking and handing over chunks, waking the collector, the agent's own memory.
    PENNA_OWN_CALL(rt_sigprocmask, kRefusesStart | kRefusesRecording, false, {SIG_SETMASK, 0, 0, 8}),
    PENNA_OWN_CALL(rt_sigprocmask, kRefusesStart | kRefusesRecording, false, {~uint64_t{0}, 0, 0, 8}),
    PENNA_OWN_CALL(futex, kRefusesStart | kRefusesRecording, false, {0, 1 /* FUTEX_WAKE */, 1}),
    PENNA_OWN_CALL(futex, kRefusesStart | kRefusesRecording, false, {0, 0 /* FUTEX_WAIT */, 1}),
    PENNA_OWN_CALL(gettid, kRefusesStart | kRefusesRecording, false, {}),
    PENNA_OWN_CALL(mmap, kRefusesStart | kRefusesRecording, false,
                   {0, kOwnBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS}),
    PENNA_OWN_CALL(munmap, kRefusesStart | kRefusesRecording, false, {0, kOwnBytes}),
};
#undef PENNA_OWN_CALL

}  // namespace penna

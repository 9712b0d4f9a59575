// SPDX-License-Identifier: MIT
// See call_filters.h. The machine is classic BPF (linux/filter.h), restricted as in seccomp(2).
#include "agent/core/call_filters.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "unwind/arch.h"

namespace penna::agent {
namespace {

bool can_be_read(uintptr_t begin, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  for (uintptr_t at = begin & ~uintptr_t{7}; at < begin + bytes; at = (at & ~(kPage - 1)) + kPage)
    if (!unwind::raw_probe(at)) return false;
  return true;
}

// ---- The machine ----------------------------------------------------------------------------------------------------

constexpr uint32_t kEndless = SECCOMP_RET_KILL_PROCESS;  // the kernel would refuse to install such a filter

struct Machine {
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
    if (BPF_MODE(code) == BPF_MEM) word = memory[k % BPF_MEMWORDS];
    if (BPF_MODE(code) == BPF_LEN) word = sizeof call;
    if (BPF_MODE(code) == BPF_ABS && k <= sizeof call - sizeof word)
      __builtin_memcpy(&word, reinterpret_cast<const uint8_t*>(&call) + k, sizeof word);
    return word;
  }
};

// Runs the filter on `call` and returns its SECCOMP_RET_* value. Jumps only go forward, so this terminates.
uint32_t answer_of(const sock_filter* code, uint32_t length, const seccomp_data& call) {
  Machine machine;
  for (uint64_t at = 0; at < length; ++at) {
    const sock_filter& step = code[at];
    switch (BPF_CLASS(step.code)) {
      case BPF_LD: machine.a = machine.load(step.code, step.k, call); break;
      case BPF_LDX: machine.x = machine.load(step.code, step.k, call); break;
      case BPF_ST: machine.memory[step.k % BPF_MEMWORDS] = machine.a; break;
      case BPF_STX: machine.memory[step.k % BPF_MEMWORDS] = machine.x; break;
      case BPF_ALU: machine.compute(step.code, step.k); break;
      case BPF_JMP:
        at += BPF_OP(step.code) == BPF_JA ? step.k : machine.compare(step.code, step.k) ? step.jt : step.jf;
        break;
      case BPF_RET: return BPF_RVAL(step.code) == BPF_A ? machine.a : step.k;
      default: BPF_MISCOP(step.code) == BPF_TAX ? machine.x = machine.a : machine.a = machine.x;
    }
  }
  return kEndless;
}

// ---- Which calls are tried ------------------------------------------------------------------------------------------

// A system call that the agent makes, with the arguments that a filter may check, and what is impossible without it.
// `must_work`: also impossible if the call fails with an error instead of killing.
struct OwnCall {
  int number;
  uint32_t without;
  bool must_work;
  uint64_t arguments[4];
};
constexpr uint64_t kDescriptor = 9, kBytes = 4096;
constexpr OwnCall kOwnCalls[] = {
    {SYS_socket, kRefusesStart, true, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}},
    {SYS_connect, kRefusesStart, true, {kDescriptor}},
    {SYS_recvmsg, kRefusesStart, true, {kDescriptor, 0, MSG_CMSG_CLOEXEC | MSG_WAITALL}},
    {SYS_recvfrom, kRefusesStart, true, {kDescriptor}},
    {SYS_sendmsg, kRefusesStart, true, {kDescriptor, 0, MSG_NOSIGNAL}},
    {SYS_memfd_create, kRefusesStart, true, {0, MFD_CLOEXEC | MFD_ALLOW_SEALING}},
    {SYS_ftruncate, kRefusesStart, true, {kDescriptor, kBytes}},
    {SYS_fcntl, kRefusesStart, true, {kDescriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL}},
    {SYS_mmap, kRefusesStart, true, {0, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED}},
    {SYS_madvise, kRefusesProgram, true, {0, kBytes, MADV_WIPEONFORK}},
    {SYS_setsockopt, kRefusesStart, false, {kDescriptor, SOL_SOCKET, SO_RCVTIMEO}},
    {SYS_getsockopt, kRefusesStart, true, {kDescriptor, SOL_SOCKET, SO_PEERCRED}},
    {SYS_close, kRefusesStart, false, {kDescriptor}},
    {SYS_prlimit64, kRefusesStart, false, {0, RLIMIT_AS}},
    {SYS_getppid, kRefusesProgram, false, {}},
    {SYS_prctl, kRefusesProgram, false, {16 /* PR_GET_NAME */}},
    {SYS_openat, kRefusesProgram, false, {static_cast<uint64_t>(AT_FDCWD), 0, O_RDONLY | O_CLOEXEC}},
    {SYS_access, kRefusesProgram, false, {0, R_OK}},
    {SYS_access, kRefusesProgram, false, {0, X_OK}},
    {SYS_fstat, kRefusesProgram, false, {kDescriptor}},
    {SYS_fstatfs, kRefusesProgram, false, {kDescriptor}},
    {SYS_fgetxattr, kRefusesProgram, false, {kDescriptor}},
    {SYS_prctl, kRefusesProgram, false, {39 /* PR_GET_NO_NEW_PRIVS */}},
    {SYS_getuid, kRefusesProgram, false, {}},
    {SYS_geteuid, kRefusesStart, true, {}},
    {SYS_getgid, kRefusesProgram, false, {}},
    {SYS_getegid, kRefusesProgram, false, {}},
    {SYS_readlink, kRefusesProgram, false, {}},
    {SYS_getcwd, kRefusesProgram, false, {0, kBytes}},
    {SYS_membarrier, kRefusesProgram | kRefusesCode, false, {1 << 5 /* PRIVATE_EXPEDITED_SYNC_CORE */}},
    {SYS_clock_gettime, kRefusesProgram, false, {CLOCK_PROCESS_CPUTIME_ID}},
    {SYS_getpid, kRefusesStart | kRefusesRecording, false, {}},
    {SYS_openat, kRefusesProgram | kRefusesCode, false, {static_cast<uint64_t>(AT_FDCWD), 0, O_RDWR | O_CLOEXEC}},
    {SYS_memfd_create, kRefusesProgram | kRefusesCode, false, {0, MFD_CLOEXEC}},
    {SYS_mmap, kRefusesProgram | kRefusesCode, false, {0, kBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED}},
    {SYS_mprotect, kRefusesProgram | kRefusesCode | kRefusesGrowth, false, {0, kBytes, PROT_READ | PROT_WRITE}},
    {SYS_mprotect, kRefusesProgram | kRefusesCode, false, {0, kBytes, PROT_READ | PROT_EXEC}},
    {SYS_sched_yield, kRefusesProgram | kRefusesCode, false, {}},
    {SYS_nanosleep, kRefusesProgram | kRefusesCode, false, {}},
    {SYS_stat, kRefusesProgram | kRefusesCode, false, {}},
    {SYS_open, kRefusesProgram | kRefusesCode, false, {0, O_RDWR | O_CLOEXEC}},
    {SYS_pread64, kRefusesProgram | kRefusesCode, false, {kDescriptor}},
    {SYS_pwrite64, kRefusesProgram | kRefusesCode, false, {kDescriptor}},
    {SYS_process_vm_readv, kRefusesProgram | kRefusesCopies, false, {}},
    {SYS_rt_sigprocmask, kRefusesStart | kRefusesRecording, false, {SIG_SETMASK, 0, 0, 8}},
    {SYS_rt_sigprocmask, kRefusesStart | kRefusesRecording, false, {~uint64_t{0}, 0, 0, 8}},
    {SYS_futex, kRefusesStart | kRefusesRecording, false, {0, 1 /* FUTEX_WAKE */, 1}},
    {SYS_futex, kRefusesStart | kRefusesRecording, false, {0, 0 /* FUTEX_WAIT */, 1}},
    {SYS_gettid, kRefusesStart | kRefusesRecording, false, {}},
    {SYS_mmap,
     kRefusesStart | kRefusesRecording,
     false,
     {0, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS}},
    {SYS_munmap, kRefusesStart | kRefusesRecording, false, {0, kBytes}},
};

bool is_refused(uint32_t answer, bool must_work) {
  switch (answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG: return false;
    case SECCOMP_RET_ERRNO:
    case SECCOMP_RET_TRACE: return must_work;
    default: return true;  // kills the process or thread, raises SIGSYS, or asks a supervisor
  }
}

}  // namespace

uint32_t refused_by_filter(const void* program) {
  if ((call_refusals & kRefusesRecording) != 0) return 0;  // memory can no longer be probed, and nothing needs to be
  const auto* const filter = static_cast<const sock_fprog*>(program);
  if (!can_be_read(reinterpret_cast<uintptr_t>(filter), sizeof *filter)) return 0;
  const uint32_t length = filter->len;
  const sock_filter* const code = filter->filter;
  if (length == 0 || length > BPF_MAXINSNS || !can_be_read(reinterpret_cast<uintptr_t>(code), length * sizeof *code))
    return 0;
  uint32_t refused = 0;
  for (const OwnCall& own : kOwnCalls) {
    seccomp_data call{};
    call.nr = own.number;
    call.arch = AUDIT_ARCH_X86_64;
    call.instruction_pointer = reinterpret_cast<uintptr_t>(&refused_by_filter);
    for (int i = 0; i < 4; ++i) call.args[i] = own.arguments[i];
    if (is_refused(answer_of(code, length, call), own.must_work)) refused |= own.without;
  }
  return refused;
}

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// See thread_state.h. References: ptrace(2), "syscall restarts"; signal(7).
#include "reach/process/thread_state.h"

#include <elf.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "penna/detail/remote.h"
#include "reach/process/cut_call_x86_64.h"
#include "reach/process/home_frame_x86_64.h"
#include "reach/process/traced.h"

namespace penna {
namespace {

constexpr int64_t kRestOfCall = -516;         // ERESTART_RESTARTBLOCK
constexpr size_t kMaxVectorState = 64 << 10;  // of NT_X86_XSTATE; AMX has 11 KiB

// System calls that a stop ends with EINTR although no signal arrived: the kernel restarts all others (signal(7)). The
// last two lines: of sockets that have a timeout (SO_RCVTIMEO, SO_SNDTIMEO), which begins anew.
bool ends_with_eintr(uint64_t call) {
  constexpr uint64_t kCalls[] = {
      SYS_epoll_wait, SYS_epoll_pwait,     SYS_epoll_pwait2, SYS_semop,         SYS_semtimedop,     SYS_msgrcv,
      SYS_msgsnd,     SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter, SYS_accept,
      SYS_accept4,    SYS_connect,         SYS_recvfrom,     SYS_recvmsg,       SYS_sendto,         SYS_sendmsg,
      SYS_read,       SYS_readv,           SYS_write,        SYS_writev};
  return std::find(std::begin(kCalls), std::end(kCalls), call) != std::end(kCalls);
}

bool follows_syscall(pid_t thread, const GeneralRegisters& at) {
  const auto word = peek(thread, RemotePtr<const uint64_t>(at.rip - 2));
  return word && (*word & 0xffff) == 0x050f;
}

// Restarts the system call if the kernel would not.
void rewind(GeneralRegisters& registers) {
  registers.rax = registers.orig_rax;
  // A syscall instruction is two bytes (0f 05).
  registers.rip -= 2;
  registers.orig_rax = ~uint64_t{0};
}

}  // namespace

bool ThreadState::save(pid_t thread) {
  rest_.reset();
  vector_.resize(kMaxVectorState);
  iovec general{&general_, sizeof general_}, vector{vector_.data(), vector_.size()};
  const auto mask = blocked_signals(thread);
  if (!traced(PTRACE_GETREGSET, thread, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&general)) ||
      general.iov_len != sizeof general_ ||  // a 32-bit thread has other registers
      !traced(PTRACE_GETREGSET, thread, NT_X86_XSTATE, reinterpret_cast<uintptr_t>(&vector)) || !mask)
    return false;
  mask_ = *mask;
  // The kernel returns what this processor has: 576 bytes at least, 2.7 KiB with AVX-512.
  vector_.resize(vector.iov_len);
  return true;
}

bool ThreadState::restore(pid_t thread) {
  constexpr uint64_t kOfFrame = 2048;  // of the frame by which it returns without us, besides the vector registers
  GeneralRegisters general = gone_on_with(thread, vector_.size() + kOfFrame).value_or(general_);
  iovec registers{&general, sizeof general}, vector{vector_.data(), vector_.size()};
  const bool mask_back = block_signals(thread, mask_);
  const bool vector_back = traced(PTRACE_SETREGSET, thread, NT_X86_XSTATE, reinterpret_cast<uintptr_t>(&vector));
  const bool general_back = traced(PTRACE_SETREGSET, thread, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&registers));
  return mask_back && vector_back && general_back;
}

bool ThreadState::redirect(pid_t thread, const RemoteCode& code) {
  bool sleeps = false;
  const GeneralRegisters home = without_our_stop(thread, &sleeps);
  const ReturnFrame frame(code.stack_top, home, vector_, mask_, sleeps);
  if (!frame.write(thread)) return false;
  home_ = (frame.context() + PENNA_REMOTE_HOME).as<uint64_t>();
  GeneralRegisters there = general_;
  there.rip = code.entry.number();
  there.rsp = frame.stack_top().number();
  there.rdi = frame.context().number();
  there.rbp = 0;
  there.eflags &=
      ~uint64_t{0x500};           // clears the direction flag, as functions expect, and the trap flag: no single steps
  there.orig_rax = ~uint64_t{0};  // not in a system call: nothing to restart
  iovec registers{&there, sizeof there};
  return traced(PTRACE_SETREGSET, thread, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&registers)) &&
         block_signals(thread, kAllSignals);
}

bool ThreadState::save_registers(pid_t thread) {
  rest_.reset();
  iovec general{&general_, sizeof general_};
  return traced(PTRACE_GETREGSET, thread, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&general)) &&
         general.iov_len == sizeof general_;
}

bool ThreadState::undo_stop(pid_t thread) const {
  auto general = gone_on_with(thread, 0);
  if (!general) return true;
  iovec registers{&*general, sizeof *general};
  return traced(PTRACE_SETREGSET, thread, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&registers));
}

bool ThreadState::go_on_at(pid_t thread, CodePtr pc) const {
  GeneralRegisters general = general_;
  general.rip = pc.number();
  iovec registers{&general, sizeof general};
  return traced(PTRACE_SETREGSET, thread, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&registers));
}

CodePtr ThreadState::pc() const { return CodePtr(general_.rip); }
RemoteBytes ThreadState::stack() const { return RemoteBytes(general_.rsp); }
RemoteBytes ThreadState::thread_pointer() const { return RemoteBytes(general_.fs_base); }

std::optional<uint64_t> ThreadState::system_call() const {
  return static_cast<int64_t>(general_.orig_rax) >= 0 ? std::optional<uint64_t>(general_.orig_rax) : std::nullopt;
}

bool ThreadState::sleeps() const { return system_call() && static_cast<int64_t>(general_.rax) == kRestOfCall; }

ReturnFrame ThreadState::frame_at_home(pid_t thread) const {
  bool sleeps = false;
  const GeneralRegisters home = without_our_stop(thread, &sleeps);
  return {stack() - kRedZone, home, vector_, mask_, sleeps};
}

bool ThreadState::is_away(const RemoteCode& code) const {
  const bool on_its_stack = stack() <= code.stack_top && stack() > code.stack_top - PENNA_REMOTE_STACK;
  return on_its_stack || bytes_between(code.end, pc()) < PENNA_REMOTE_TAIL_BYTES;
}

bool ThreadState::has_returned(pid_t thread) const { return peek(thread, home_).value_or(0) != 0; }

// A signal that has come as well ends them, too, once its handler has run.
bool ThreadState::ended_by_our_stop(pid_t thread) const {
  return general_.rax == static_cast<uint64_t>(-EINTR) && ends_with_eintr(general_.orig_rax) && !has_signal(thread);
}

// Worked out once: what it reads of the call, it changes.
std::optional<GeneralRegisters> ThreadState::with_rest_of_call(pid_t thread, uint64_t below) const {
  if (rest_ || !finisher_ || !follows_syscall(thread, general_)) return rest_;
  if (const auto cut = CutCall::find(thread, general_)) rest_ = cut->finish(thread, finisher_, below);
  return rest_;
}

// The registers to go on with where the kernel would not restart the call; empty: as they are.
std::optional<GeneralRegisters> ThreadState::gone_on_with(pid_t thread, uint64_t below) const {
  if (auto rest = with_rest_of_call(thread, below)) return rest;
  if (!ended_by_our_stop(thread) || !follows_syscall(thread, general_)) return {};
  GeneralRegisters general = general_;
  rewind(general);
  return general;
}

// The registers as if it had not been stopped. *sleeps: it will restart a system call whose remaining time the kernel
// keeps.
GeneralRegisters ThreadState::without_our_stop(pid_t thread, bool* sleeps) const {
  constexpr int64_t kRestarts[] = {-512, -513, -514, kRestOfCall};  // ERESTARTSYS and relatives, linux/errno.h
  if (const auto rest = with_rest_of_call(thread, 0)) return *rest;
  GeneralRegisters registers = general_;
  const auto result = static_cast<int64_t>(registers.rax), call = static_cast<int64_t>(registers.orig_rax);
  const bool restarts = std::find(std::begin(kRestarts), std::end(kRestarts), result) != std::end(kRestarts);
  const bool anew = call >= 0 && (restarts || ended_by_our_stop(thread)) && follows_syscall(thread, registers);
  *sleeps = anew && (result == kRestOfCall || call == SYS_restart_syscall);
  if (anew) rewind(registers);
  return registers;
}

std::string stack_of(const RemoteMemory& memory, const ThreadState& thread, uint64_t most) {
  const RemoteBytes begin = aligned_down(thread.stack(), 8), pointer = thread.thread_pointer();
  return memory.part(begin, pointer > begin ? std::min(bytes_between(begin, pointer), most) : most);
}

// The kernel's frame: the address that the handler returns to, and the ucontext, which has the registers from byte 40
// on, the program counter as the 17th.
namespace {
constexpr uint64_t kProgramCounter = 8 + 40 + 16 * 8;

// Offsets in `words` of such frames.
std::vector<size_t> signal_frames(const std::string& words, CodePtr sigreturn) {
  std::vector<size_t> frames;
  for (size_t at = 0; sigreturn && at + kProgramCounter + 8 <= words.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, words.data() + at, 8);
    if (CodePtr(word) == sigreturn) frames.push_back(at);
  }
  return frames;
}
constexpr uint64_t kMostSignalFrames = 64 << 10;
}  // namespace

std::vector<CodePtr> interrupted_pcs(const RemoteMemory& memory, const ThreadState& thread, CodePtr sigreturn) {
  const std::string words = stack_of(memory, thread, kMostSignalFrames);
  std::vector<CodePtr> pcs;
  for (const size_t at : signal_frames(words, sigreturn)) {
    uint64_t pc;
    std::memcpy(&pc, words.data() + at + kProgramCounter, 8);
    pcs.emplace_back(pc);
  }
  return pcs;
}

void forget_signal_frames(const RemoteMemory& memory, const ThreadState& thread, CodePtr sigreturn) {
  const RemoteBytes begin = aligned_down(thread.stack(), 8);
  for (const size_t at : signal_frames(stack_of(memory, thread, kMostSignalFrames), sigreturn))
    (void)memory.write((begin + at).as<uint64_t>(), 0);
}

bool ThreadState::is_at_end(pid_t thread, const RemoteCode& code) {
  GeneralRegisters registers{};
  iovec view{&registers, sizeof registers};
  if (!traced(PTRACE_GETREGSET, thread, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&view))) return false;
  return bytes_between(code.end, CodePtr(registers.rip)) < PENNA_REMOTE_END_BYTES;
}

}  // namespace penna

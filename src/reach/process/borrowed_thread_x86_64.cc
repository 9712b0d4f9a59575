// SPDX-License-Identifier: MIT
// See borrowed_thread.h. References: ptrace(2), "Syscall-stops"; the x86-64 psABI, A.2.1.
#include "reach/process/borrowed_thread.h"

#include <elf.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <csignal>
#include <string>
#include <vector>

#include "penna/detail/remote.h"
#include "reach/process/stop_thread.h"

namespace penna {
namespace {

constexpr long kLongestCallUs = 5'000'000, kLongestCopyUs = 60'000'000;

bool set_registers(pid_t thread, GeneralRegisters& registers) {
  iovec view{&registers, sizeof registers};
  return traced(PTRACE_SETREGSET, thread, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&view));
}

bool get_registers(pid_t thread, GeneralRegisters* registers) {
  iovec view{registers, sizeof *registers};
  return traced(PTRACE_GETREGSET, thread, NT_PRSTATUS, reinterpret_cast<uintptr_t>(&view));
}

}  // namespace

// Any such bytes in executable memory will do, also those in the middle of another instruction.
//    0f 05                       syscall
//    c3                          ret
//
//    48 c7 c0 0f 00 00 00        mov $15, %rax     __restore_rt, whose address every signal frame holds
//    0f 05                       syscall           rt_sigreturn
//
//    b8 0f 00 00 00              mov $15, %eax     the same, of other builds
//    0f 05                       syscall
//
//    58 c3                       pop %rax; ret
BorrowedCode find_borrowed_code(const RemoteMemory& memory, const RemoteRange& code) {
  constexpr size_t kMost = 64 << 20;
  const std::string bytes = memory.part(code.start, std::min<size_t>(bytes_between(code.start, code.end), kMost));
  const auto find = [&](std::string_view what) {
    const size_t at = bytes.find(what);
    return at != bytes.npos ? code.start + at : CodePtr();
  };
  using namespace std::string_view_literals;
  BorrowedCode found{find("\x0f\x05\xc3"sv), find("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"sv), find("\x58\xc3"sv)};
  if (!found.sigreturn) found.sigreturn = find("\xb8\x0f\x00\x00\x00\x0f\x05"sv);
  return found;
}

std::optional<BorrowedThread> BorrowedThread::borrow(pid_t pid, pid_t thread, const RemoteMemory& memory,
                                                     const BorrowedCode& code) {
  BorrowedThread borrowed(pid, thread, code);
  if (!borrowed.saved_.save(thread)) return {};
  const ReturnFrame frame = borrowed.saved_.frame_at_home(thread);
  // The frame must be complete before the first register changes, with its return address right below it: the layout
  // that a signal handler would find on its stack. Without __restore_rt the thread also takes the call's number from
  // there.
  std::vector<uint64_t> way;
  if (code.sigreturn)
    way = {code.sigreturn.number()};
  else
    way = {code.pop_number.number(), SYS_rt_sigreturn, code.system_call.number()};
  borrowed.return_path_ = frame.context().as<uint64_t>() - way.size();
  if (!frame.write(thread) || !memory.write(borrowed.return_path_, way)) return {};
  return borrowed;
}

// Signals other than our stops are blocked and wait; one that arrives anyway comes from a fault, which is not ours to
// handle.
bool BorrowedThread::to_next_call_stop() {
  if (!traced(PTRACE_SYSCALL, thread_, 0, 0)) return false;
  for (;;) {
    const Stop stop = wait_for_stop(pid_, thread_, kLongestCallUs);
    if (stop.signal == (SIGTRAP | 0x80)) return true;
    if (stop.signal == 0 || stop.event != PTRACE_EVENT_STOP) return false;
    if (!traced(PTRACE_SYSCALL, thread_, 0, 0)) return false;
  }
}

// Registers and mask for a system call. The thread has not taken a step yet.
bool BorrowedThread::prepare_call(long number, const std::array<uint64_t, 6>& arguments) {
  GeneralRegisters there{};
  if (!get_registers(thread_, &there)) return false;
  there.rip = code_.system_call.number();
  there.rsp = return_path_.number();
  there.rax = static_cast<uint64_t>(number);
  there.orig_rax = ~uint64_t{0};
  there.rdi = arguments[0], there.rsi = arguments[1], there.rdx = arguments[2];
  there.r10 = arguments[3], there.r8 = arguments[4], there.r9 = arguments[5];
  // Direction flag and trap flag.
  there.eflags &= ~uint64_t{0x500};
  // The mask last: until the thread has its return path, nothing would restore it.
  return set_registers(thread_, there) && block_signals(thread_, kAllSignals);
}

// The thread stays in the syscall-exit stop: the next call() continues from there.
std::optional<int64_t> BorrowedThread::call(long number, const std::array<uint64_t, 6>& arguments) {
  GeneralRegisters there{};
  if (!prepare_call(number, arguments) || !to_next_call_stop() || !to_next_call_stop() ||
      !get_registers(thread_, &there))
    return {};
  return static_cast<int64_t>(there.rax);
}

// Runs from the syscall-entry stop to the stop at which the child exists.
std::optional<pid_t> BorrowedThread::new_child() {
  unsigned long child = 0;
  if (!traced(PTRACE_SYSCALL, thread_, 0, 0)) return {};
  const Stop stop = wait_for_stop(pid_, thread_, kLongestCopyUs);
  if (stop.event != PTRACE_EVENT_CLONE || !traced(PTRACE_GETEVENTMSG, thread_, 0, reinterpret_cast<uintptr_t>(&child)))
    return {};
  return static_cast<pid_t>(child);
}

// The child gets a stack in its copy of the memory, below what the thread has put on its own. Its only return addresses
// lead to exit: if we are killed, it must not continue as the program.
std::optional<BorrowedThread::Child> BorrowedThread::copy_process(const RemoteMemory& memory, CodePtr exit_function) {
  constexpr uint64_t kBelow = 1024;
  const RemoteBytes stack = aligned_down(return_path_.as<uint8_t>() - kBelow, 16);
  const CodePtr exits[] = {exit_function, exit_function, exit_function, exit_function};
  if (!memory.write(stack.as<CodePtr>(), exits) || !prepare_call(SYS_clone, {0, stack.number(), 0, 0, 0, 0}) ||
      !to_next_call_stop() || !traced(PTRACE_SETOPTIONS, thread_, 0, kOptions | PTRACE_O_TRACECLONE))
    return {};
  const auto child = new_child();
  (void)traced(PTRACE_SETOPTIONS, thread_, 0, kOptions);
  GeneralRegisters there{};
  // If no child was made, the thread is at the end of the call by now.
  if ((child && !to_next_call_stop()) || !get_registers(thread_, &there)) return {};
  if (!child) return Child{0, static_cast<int64_t>(there.rax)};
  BorrowedThread copy(*child, *child, code_);
  copy.return_path_ = stack.as<uint64_t>();
  if (!copy.settle(saved_)) return ::kill(*child, SIGKILL), std::nullopt;
  return Child{*child, static_cast<int64_t>(there.rax)};
}

// The first calls may fail without consequence. Yama: children do not inherit the tracers that the process has allowed.
// Descriptors: a reader of one of the process's pipes must see its end.
// The sleep is not one whose remaining time the kernel keeps: the time left is in the copy's memory, so it survives the
// system calls of a borrowed thread.
// Between the copy's stack and the program's lie the borrowed thread's return path, and whatever the program has left
// there, including frames of signal handlers that have returned. None of it means anything to the copy, nor do the
// handlers that the program is running: the copy never returns to the code they interrupted.
bool BorrowedThread::settle(const ThreadState& original) {
  const RemotePtr<timeval> time_at = (return_path_ + 8).as<timeval>();
  const auto dead_at = (time_at + 1).as<char>();
  const auto memory = RemoteMemory::open(pid_);
  const std::string nothing(bytes_between(dead_at.as<uint8_t>(), original.stack()), '\0');
  if (memory) forget_signal_frames(*memory, original, code_.sigreturn);
  return memory && memory->write(time_at, timeval{600, 0}) && memory->write(dead_at, nothing) &&
         await_interrupt(pid_, thread_, kLongestCallUs) &&
         call(SYS_prctl, {PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0, 0}) &&
         call(SYS_close_range, {0, ~0u, 0, 0, 0, 0}) && prepare_call(SYS_select, {0, 0, 0, 0, time_at.number(), 0}) &&
         traced(PTRACE_DETACH, thread_, 0, 0);
}

// At the end of a system call the original state cannot be restored: the kernel is past the point where it restarts the
// call that our stop cut short. Interrupted there and continued, the thread stops again before it takes a step, and
// ahead of that point.
bool BorrowedThread::release() {
  return traced(PTRACE_INTERRUPT, thread_, 0, 0) && traced(PTRACE_CONT, thread_, 0, 0) &&
         await_interrupt(pid_, thread_, kLongestCallUs) && saved_.restore(thread_);
}

}  // namespace penna

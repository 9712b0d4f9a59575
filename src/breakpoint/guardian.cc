// SPDX-License-Identifier: MIT
// See guardian.h: handling of each stop of a traced thread. Reference: ptrace(2).
#include "breakpoint/guardian.h"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/readable.h"
#include "penna/clock.h"
#include "reach/process/stop_thread.h"

namespace penna {
namespace {

// How often an idle guardian checks for orders, in microseconds.
constexpr suseconds_t kLookUs = 20'000;

// Makes waitpid() return with EINTR from time to time: there is no way to wait for children and a socket at once,
// because a pidfd signals a process's end and not a tracee's stops.
void interrupt_waits() {
  struct sigaction nothing {};
  // A handler, without SA_RESTART: an ignored signal would interrupt nothing.
  nothing.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &nothing, nullptr);
  sigset_t alarm;
  ::sigemptyset(&alarm);
  ::sigaddset(&alarm, SIGALRM);
  ::sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  const itimerval often{{0, kLookUs}, {0, kLookUs}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
}

bool is_thread_of(pid_t pid, pid_t thread) {
  return ::access(fmt::format("/proc/{}/task/{}", pid, thread).c_str(), F_OK) == 0;
}

bool is_stopping(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

bool read_signal(pid_t thread, siginfo_t* info) {
  return traced(PTRACE_GETSIGINFO, thread, 0, reinterpret_cast<uintptr_t>(info));
}

// Raised by the instruction itself.
bool is_fault(const siginfo_t& info) {
  const int signal = info.si_signo;
  // Positive codes are the kernel's (sigaction(2)); kill(2) and similar calls send 0 and below.
  return info.si_code > 0 &&
         (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP);
}

// A breakpoint was hit, and its signal is still pending: an interrupt may be reported before the SIGTRAP of an int3
// that the thread has already executed. Its pc is then past the breakpoint, in the middle of an instruction.
bool has_pending_trap(pid_t thread) {
  for (const uint32_t flags : {0u, uint32_t{PTRACE_PEEKSIGINFO_SHARED}}) {
    siginfo_t infos[16];
    // Only the first 16 of each queue: a SIGTRAP after those would be missed.
    const __ptrace_peeksiginfo_args which{0, flags, 16};
    const long count = ::ptrace(PTRACE_PEEKSIGINFO, thread, &which, infos);
    for (long i = 0; i < count; ++i)
      if (infos[i].si_signo == SIGTRAP) return true;
  }
  return false;
}

}  // namespace

TracedThread& Guardian::add_thread(pid_t id, TracedProcess* process) {
  TracedThread& thread = threads_[id];
  thread.id = id;
  thread.process = process;
  thread.own_log.tid = static_cast<uint32_t>(id);
  return thread;
}

void Guardian::go_on(pid_t thread, int signal) { traced(PTRACE_CONT, thread, 0, static_cast<uint64_t>(signal)); }

void Guardian::work(int socket) {
  ::prctl(PR_SET_NAME, "penna-guardian");
  interrupt_waits();
  for (;;) {
    const pid_t thread = handle_next();
    // Nothing is traced any more: only the recorder can have something for us.
    const bool is_idle = thread < 0 && errno == ECHILD;
    const bool is_interrupted = thread < 0 && errno == EINTR;
    if ((is_idle || is_interrupted || ++stops_ % 256 == 0) && is_readable(socket, is_idle ? -1 : 0)) return;
  }
}

// Of any thread of any process. As waitpid().
pid_t Guardian::handle_next() {
  int status = 0;
  pid_t thread = 0;
  if (!unhandled_.empty()) {
    std::tie(thread, status) = unhandled_.front();
    unhandled_.pop_front();
  } else {
    thread = ::waitpid(-1, &status, __WALL);  // threads are not ordinary children
  }
  if (thread > 0) handle(thread, status);
  return thread;
}

void Guardian::handle(pid_t id, int status) {
  if (WIFEXITED(status) || WIFSIGNALED(status)) return thread_is_gone(id);
  const auto found = threads_.find(id);
  if (found == threads_.end()) {
    // A new thread's first stop and its parent's event arrive in any order (ptrace(2), PTRACE_O_TRACECLONE).
    early_[id] = status;
    return;
  }
  TracedThread& thread = found->second;
  const int signal = WSTOPSIG(status), event = status >> 16;
  if (event == 0) {
    handle_signal(thread, signal);
    if (is_leaving_) traced(PTRACE_INTERRUPT, id, 0, 0);  // until then it is not stopped where it can be released
    return;
  }
  handle_event(thread, event, signal);
}

void Guardian::handle_event(TracedThread& thread, int event, int signal) {
  switch (event) {
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK: add_new_child(thread); return go_on(thread.id);
    case PTRACE_EVENT_EXEC: {
      // A thread other than the first takes over the first one's number.
      unsigned long before = 0;
      traced(PTRACE_GETEVENTMSG, thread.id, 0, reinterpret_cast<uintptr_t>(&before));
      const pid_t pid = thread.id;
      if (static_cast<pid_t>(before) != pid && before != 0) thread_is_gone(static_cast<pid_t>(before));
      become_program(thread);
      return go_on(pid);
    }
    case PTRACE_EVENT_STOP: return handle_stop(thread, signal);
    default: return go_on(thread.id);
  }
}

// A new thread, a thread stopped together with its process, or one that we have interrupted.
void Guardian::handle_stop(TracedThread& thread, int signal) {
  if (std::exchange(thread.may_lack_action, false))
    thread.process->trap_action().restore(thread.process->caller(thread.id));
  if (!is_leaving_) {
    if (is_stopping(signal))
      // Keeps it stopped, like its process, but lets SIGCONT through; PTRACE_CONT would undo the program's stop.
      traced(PTRACE_LISTEN, thread.id, 0, 0);
    else
      traced(thread.steps ? PTRACE_SINGLESTEP : PTRACE_CONT, thread.id, 0, 0);
    return;
  }
  // Its step or SIGTRAP first: then the thread is at an address of the program's, and has all of its signals.
  if (thread.steps && !is_stopping(signal)) {
    traced(PTRACE_SINGLESTEP, thread.id, 0, 0);
    return;
  }
  if (has_pending_trap(thread.id)) return go_on(thread.id);
  let_go(thread, is_stopping(signal));
}

void Guardian::handle_signal(TracedThread& thread, int signal) {
  const pid_t id = thread.id;
  if (thread.process == nullptr) return go_on(id, signal);
  auto registers = Registers::of(id);
  if (!registers) return go_on(id, signal);
  siginfo_t info{};
  // As ptrace_notify() in the kernel says it.
  if (std::exchange(thread.enters_handler, false) && signal == SIGTRAP && read_signal(id, &info) &&
      info.si_code == SIGTRAP)
    return go_on(id);
  if (signal == SIGTRAP && thread.steps) return end_step(thread, registers->pc());
  if (signal == SIGTRAP) {
    // int3 is a trap: the pc is past its one byte.
    const CodePatch* patch = thread.process->patches().find(registers->pc() - 1);
    // After a one-byte instruction it may also be a signal sent by a process.
    const bool is_met =
        patch != nullptr && (patch->instruction.length > 1 || (read_signal(id, &info) && info.si_code == SI_KERNEL));
    if (is_met) {
      handle_breakpoint(thread, *patch, *registers);
      keep_trap_action(thread);
      return go_on(id);
    }
  }
  // A SIGTRAP of the program's own (its int3, debugger code in it) is delivered like any other signal.
  const bool is_at_home = thread.process->patches().home_of(registers->pc()) == registers->pc();
  const bool has_handler = thread.on_behalf_of == 0 && thread.process->trap_action().has_handler();
  if (signal == SIGTRAP && is_at_home && has_handler) return deliver_trap(thread);
  deliver(thread, signal);
}

// A vfork child has actions of its own, of which its parent's say nothing.
void Guardian::keep_trap_action(TracedThread& thread) {
  if (thread.on_behalf_of == 0)
    thread.process->trap_action().keep(thread.process->caller(thread.id), [&] { return stop_others(thread); });
}

// True: none of the process's other threads has hit a breakpoint that we do not know of. One that does not stop is
// inside the kernel for long, as in vfork.
bool Guardian::stop_others(TracedThread& thread) {
  constexpr long kPatienceUs = 10'000;
  std::set<pid_t> stopped;
  for (const auto& [id, status] : unhandled_) stopped.insert(id);
  std::vector<pid_t> others;
  for (const auto& [id, other] : threads_)
    if (id != thread.id && other.process == thread.process && stopped.count(id) == 0 &&
        traced(PTRACE_INTERRUPT, id, 0, 0))
      others.push_back(id);
  for (const pid_t id : others) await_stop(thread.process->pid(), id, kPatienceUs);
  return std::none_of(unhandled_.begin(), unhandled_.end(), [&](const auto& stop) {
    const auto other = threads_.find(stop.first);
    return other != threads_.end() && other->second.process == thread.process &&
           (stop.second >> 8 == SIGTRAP || has_pending_trap(stop.first));
  });
}

void Guardian::await_stop(pid_t pid, pid_t thread, long patience_us) {
  const Stop stop = wait_for_stop(pid, thread, patience_us);
  if (stop.signal != 0) unhandled_.emplace_back(thread, W_STOPCODE(stop.signal) | stop.event << 16);
}

// Alone: a breakpoint that another thread hits while this one is on its way to the handler would take that away.
void Guardian::deliver_trap(TracedThread& thread) {
  constexpr long kPatienceUs = 100'000;
  siginfo_t info{};
  const bool is_read = read_signal(thread.id, &info);
  if (!stop_others(thread)) thread.process->trap_action().restore(thread.process->caller(thread.id));
  if (is_read) traced(PTRACE_SETSIGINFO, thread.id, 0, reinterpret_cast<uintptr_t>(&info));
  // It stops again at the handler's first instruction, with a SIGTRAP that is not the program's.
  thread.enters_handler = true;
  traced(PTRACE_SINGLESTEP, thread.id, 0, SIGTRAP);
  await_stop(thread.process->pid(), thread.id, kPatienceUs);
}

// The handler must not see an address of ours. If the thread is before the copied instruction, that is single-stepped
// first; if it faults, the thread is moved back to the original.
void Guardian::deliver(TracedThread& thread, int signal) {
  const CodePatches& patches = thread.process->patches();
  const auto registers = Registers::of(thread.id);
  const uint64_t pc = registers ? registers->pc() : 0, home = patches.home_of(pc);
  if (home == pc) return go_on(thread.id, signal);
  siginfo_t info{};
  if (!read_signal(thread.id, &info)) return go_on(thread.id, signal);
  if (patches.is_copy_begin(pc) && !is_fault(info)) {
    // The kernel has taken it from the queue: we must deliver it, with all its data.
    thread.held.push_back(info);
    thread.steps = true;
    traced(PTRACE_SINGLESTEP, thread.id, 0, 0);
    return;
  }
  Registers::set_pc(thread.id, home);
  // The handler returns to the breakpoint, which the thread then hits for the second time: nothing new is recorded.
  if (patches.is_copy_begin(pc)) thread.again = home;
  // SIGILL, SIGFPE and SIGTRAP carry the instruction's address; SIGSEGV and SIGBUS a memory address, which stays.
  if (is_fault(info) && reinterpret_cast<uintptr_t>(info.si_addr) == pc) {
    info.si_addr = reinterpret_cast<void*>(home);
    traced(PTRACE_SETSIGINFO, thread.id, 0, reinterpret_cast<uintptr_t>(&info));
  }
  thread.steps = false;
  send_held(thread, 0);
  go_on(thread.id, signal);
}

// Signals that waited for the end of a step.
void Guardian::send_held(TracedThread& thread, size_t first) {
  for (size_t i = first; i < thread.held.size(); ++i)
    ::syscall(SYS_rt_tgsigqueueinfo, thread.process->pid(), thread.id, thread.held[i].si_signo, &thread.held[i]);
  thread.held.clear();
}

// The copied instruction is done: the signals that have waited are delivered, the first by this very stop.
void Guardian::end_step(TracedThread& thread, uint64_t pc) {
  thread.steps = false;
  Registers::set_pc(thread.id, thread.process->patches().home_of(pc));
  keep_trap_action(thread);
  if (thread.held.empty()) return go_on(thread.id);
  const siginfo_t first = thread.held.front();
  send_held(thread, 1);
  traced(PTRACE_SETSIGINFO, thread.id, 0, reinterpret_cast<uintptr_t>(&first));
  go_on(thread.id, first.si_signo);
}

// The thread has just forked: the new process may have been copied where a hit had taken the handler of SIGTRAP away.
bool Guardian::may_lack_action(TracedThread& forked_by) {
  const TrapAction& action = forked_by.process->trap_action();
  return action.has_handler() && (TrapAction::is_in_place(forked_by.id) || !stop_others(forked_by));
}

// A thread, a fork of this process, or a child that runs in this process's memory until it execs.
void Guardian::add_new_child(TracedThread& parent) {
  unsigned long message = 0;
  if (!traced(PTRACE_GETEVENTMSG, parent.id, 0, reinterpret_cast<uintptr_t>(&message)) || message == 0) return;
  const auto id = static_cast<pid_t>(message);
  TracedProcess* const process = parent.process;
  TracedThread& child = add_thread(id, process);
  // Three cases: a thread shares its process's breakpoints and channel; a vfork child runs in this memory until it
  // execs, and records as the thread that waits for it; a fork has a copy of everything, including the bytes that we
  // have written.
  if (process != nullptr && !is_thread_of(process->pid(), id)) {
    if (share_memory(parent.id, id))
      child.on_behalf_of = parent.on_behalf_of != 0 ? parent.on_behalf_of : parent.id;
    else
      child.process = fork_process(parent, id, child.own_log, penna_now());
    // The same calls are open on its copy of the stack.
    if (child.on_behalf_of == 0) child.open = parent.open;
    child.may_lack_action = child.on_behalf_of == 0 && child.process != nullptr && may_lack_action(parent);
  }
  const auto early = early_.find(id);
  if (early == early_.end()) return;
  const int status = early->second;
  early_.erase(early);
  handle(id, status);
}

void Guardian::thread_is_gone(pid_t id) {
  early_.erase(id);
  const auto found = threads_.find(id);
  if (found == threads_.end()) return;
  TracedThread& thread = found->second;
  TracedProcess* const process = thread.process;
  if (process != nullptr && process->writer()) process->writer()->close(thread.own_log);
  const bool is_last = is_last_of_process(thread);
  threads_.erase(found);
  if (is_last && process != nullptr) processes_.erase(process->pid());
}

bool Guardian::is_last_of_process(const TracedThread& thread) const {
  return std::none_of(threads_.begin(), threads_.end(), [&](const auto& other) {
    return &other.second != &thread && other.second.process == thread.process;
  });
}

// We have stopped it. Its process's bytes are restored.
void Guardian::let_go(TracedThread& thread, bool is_group_stop) {
  const pid_t id = thread.id;
  if (TracedProcess* const process = thread.process) {
    if (const auto registers = Registers::of(id)) {
      const uint64_t home = process->patches().home_of(registers->pc());
      if (home != registers->pc()) Registers::set_pc(id, home);
    }
    send_held(thread, 0);  // of a stopped process's thread
    // Only for the last thread, since others might still be in a copy. A thread of a stopped process makes no system
    // calls: then the areas stay, unreferenced.
    if (is_last_of_process(thread) && !is_group_stop) process->remove_areas(id);
  }
  ThreadState state;
  // Our interrupt may have ended a system call with EINTR.
  if (state.save_registers(id)) state.undo_stop(id);
  traced(PTRACE_DETACH, id, 0, 0);
  thread_is_gone(id);
}

void Guardian::let_go_of_all() {
  // Threads that stop are released by handle_stop(); new ones arrive stopped, and are handled likewise.
  for (const auto& [id, thread] : threads_) traced(PTRACE_INTERRUPT, id, 0, 0);
  while (!threads_.empty())
    if (handle_next() < 0 && errno != EINTR) return;
}

LeftPlaces Guardian::leave() {
  LeftPlaces left;
  is_leaving_ = true;
  for (auto& [pid, process] : processes_) {
    left.modules = std::max<uint64_t>(left.modules, process->modules_with_breakpoints());
    // The bytes first, while threads run: no thread hits a breakpoint any more, and one in a copy leaves it by its
    // jump.
    const CodePatches::PutBack back = process->patches().put_back(process->memory());
    left.places += back.places;
    left.kept += back.kept;
    process->lower_semaphores();
  }
  for (auto& [id, thread] : threads_)
    if (thread.process != nullptr && thread.process->writer()) thread.process->writer()->close(thread.own_log);
  let_go_of_all();
  left.notes = notes();
  return left;
}

}  // namespace penna

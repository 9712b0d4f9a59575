// SPDX-License-Identifier: MIT
// See target.h.
#include "reach/inject/target.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>

#include "reach/process/cut_call_x86_64.h"
#include "reach/process/stop_thread.h"
#include "reach/process/thread_state.h"

namespace penna {
namespace {

constexpr useconds_t kLookAgainUs = 200;
constexpr long kStopUs = 2'000'000;

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Code in the program.
BorrowedCode find_code(const Target& target) {
  BorrowedCode code;
  for (const RemoteRange& range : target.system_code) {
    const BorrowedCode found = find_borrowed_code(target.memory, range);
    if (!code.system_call) code.system_call = found.system_call;
    if (!code.sigreturn) code.sigreturn = found.sigreturn;
    if (!code.pop_number) code.pop_number = found.pop_number;
  }
  return code;
}

Result<Target> examine_standalone(Target target, const RemoteLibrary& program) {
  target.standalone = PENNA_TRY(examine_standalone_program(target.pid, target.memory, program));
  target.libraries.push_back(program);
  target.libraries.back().bias = target.standalone->facts.bias;
  target.libc = &target.libraries.back();
  target.needs.tid_at = static_cast<uint32_t>(target.standalone->facts.tid_at);
  target.system_code = code_of(target.memory, *target.libc);
  target.code = find_code(target);
  if (!target.code.is_enough()) return Error{"has a libc whose code Penna does not recognize"};
  return target;
}

Result<Target> try_to_examine(pid_t pid) {
  auto memory = RemoteMemory::open(pid);
  if (!memory) return Error{has_ended(pid) ? "has ended" : "may not be traced: " + memory.error().text};
  Target target{pid, std::move(*memory), {}, nullptr, nullptr, {}, {}, {}, {}};
  if (const RemoteLibrary program = program_of(pid, target.memory); is_standalone(target.memory, program))
    return examine_standalone(std::move(target), program);
  target.libraries = PENNA_TRY(list_libraries(pid, target.memory));
  for (const RemoteLibrary& one : target.libraries) {
    if (file_name(one.name) == "libc.so.6") target.libc = &one;
    if (file_name(one.name).starts_with("ld-linux")) target.linker = &one;
  }
  if (target.libc == nullptr) return Error{"has no glibc that Penna knows"};
  target.needs = PENNA_TRY(find_guest_needs(target.memory, target.libraries, *target.libc));
  for (const RemoteLibrary* one : {target.libc, target.linker})
    if (one != nullptr)
      for (const RemoteRange& range : code_of(target.memory, *one)) target.system_code.push_back(range);
  if (!target.system_code.empty()) target.code = find_borrowed_code(target.memory, target.system_code.front());
  if (!target.code.is_enough()) return Error{"has a libc whose code Penna does not recognize"};
  return target;
}

// A single-threaded process does without the locks of malloc and stdio. It must take them as soon as the guest exists;
// so it must not be in the middle of code that would have taken one. That is certain if it is in a system call that
// malloc and stdio never make, or in code other than libc's; and likewise for the code that a signal handler has
// interrupted.
bool is_free_of_locks(const Target& target, const ThreadState& thread) {
  constexpr uint64_t kCallsOfMalloc[] = {SYS_brk,     SYS_mmap,  SYS_munmap,    SYS_mremap,           SYS_mprotect,
                                         SYS_madvise, SYS_futex, SYS_getrandom, SYS_sched_getaffinity};
  const auto is_systems = [&](CodePtr pc) {
    return std::any_of(target.system_code.begin(), target.system_code.end(),
                       [pc](const RemoteRange& code) { return code.holds(pc); });
  };
  const auto call = thread.system_call();
  const bool waits =
      call && std::find(std::begin(kCallsOfMalloc), std::end(kCallsOfMalloc), *call) == std::end(kCallsOfMalloc);
  if (!waits && is_systems(thread.pc())) return false;
  const std::vector<CodePtr> pcs = interrupted_pcs(target.memory, thread, target.code.sigreturn);
  return std::none_of(pcs.begin(), pcs.end(), is_systems);
}

bool says_single_threaded(const Target& target) {
  const RemotePtr<uint8_t> at = target.needs.single_threaded[0];
  return at && target.memory.get_or_zero(at) != 0;
}

// A thread of the process that we keep stopped for as long as this object lives.
class HeldThread {
 public:
  HeldThread(pid_t pid, pid_t thread) : thread_(thread) {
    const char state = state_of(pid, thread);
    if (state == 'D' || state == 'Z' || state == 'X' || state == 'T') return;
    is_traced_ = traced(PTRACE_SEIZE, thread, 0, BorrowedThread::kOptions);
    held_ = is_traced_ && traced(PTRACE_INTERRUPT, thread, 0, 0) && await_interrupt(pid, thread, kStopUs) &&
            state_.save_registers(thread);
  }
  ~HeldThread() {
    if (held_ && !was_borrowed_) state_.undo_stop(thread_);
    if (is_traced_) traced(PTRACE_DETACH, thread_, 0, 0);
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;
  explicit operator bool() const { return held_; }
  const ThreadState& state() const { return state_; }
  // From here on it is the borrower that restores it.
  void lend() { was_borrowed_ = true; }

 private:
  pid_t thread_;
  ThreadState state_;
  bool is_traced_ = false, held_ = false, was_borrowed_ = false;
};

// Empty: not this thread, not now. Else `work`'s result.
std::optional<std::string> work_with(const Target& target, pid_t thread, bool even_asleep, const BorrowedWork& work) {
  // Queried before the stop: a thread that is created meanwhile makes the answer stricter than necessary, never laxer.
  const bool alone = says_single_threaded(target);
  if (!even_asleep && may_be_cut(target.pid, thread)) return {};
  HeldThread held(target.pid, thread);
  if (!held || (held.state().sleeps() && !even_asleep)) return {};
  if (alone && !is_free_of_locks(target, held.state())) return {};
  auto borrowed = BorrowedThread::borrow(target.pid, thread, target.memory, target.code);
  if (!borrowed) return {};
  held.lend();
  const std::string trouble = work(*borrowed);
  if (trouble.empty()) borrowed->release();
  return trouble;  // else it returns by itself
}

}  // namespace

bool is_standalone(pid_t pid) {
  const auto memory = RemoteMemory::open(pid);
  return memory && is_standalone(*memory, program_of(pid, *memory));
}

Result<Target> examine(pid_t pid) {
  constexpr int kMostLooks = 2000;
  auto target = try_to_examine(pid);
  for (int i = 0; i < kMostLooks && !target && ::kill(pid, 0) == 0 && !is_standalone(pid); ++i, ::usleep(kLookAgainUs))
    target = try_to_examine(pid);
  return target;
}

void say_not_single_threaded(const Target& target) {
  for (const RemotePtr<uint8_t> at : target.needs.single_threaded)
    if (at) target.memory.write(at, 0);
}

std::string with_borrowed_thread(const Target& target, const BorrowedWork& work) {
  constexpr int kMostBorrowTries = 4000;
  for (int i = 0; i < kMostBorrowTries; ++i, ::usleep(kLookAgainUs)) {
    const std::vector<pid_t> threads = threads_of(target.pid);
    if (threads.empty()) return "has ended";
    if (threads.size() > 1 && says_single_threaded(target)) return "has threads that its libc did not create";
    // Sleeping threads last: if we are killed meanwhile, a system call that the kernel would have continued ends.
    for (const bool even_asleep : {false, true})
      for (const pid_t thread : threads)
        if (const auto result = work_with(target, thread, even_asleep, work)) return *result;
  }
  return "has no thread that can be stopped outside of malloc";
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See process_copy.h.
#include "reach/inject/process_copy.h"

#include <fmt/core.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/file.h"
#include "base/readable.h"
#include "reach/inject/call_filters.h"
#include "reach/inject/target.h"
#include "reach/inject/turn.h"

namespace penna {
namespace {

using Trouble = ProcessCopy::Trouble;
constexpr char kMakeCopy = 'm', kEndCopy = 'e';  // orders
constexpr char kMade = 'm';                      // an answer to kMakeCopy begins with this or a Trouble
constexpr const char* kStays = "has not reaped its copy, which stays a zombie";

// In the surgeon.
struct Made {
  pid_t original = 0;
  int64_t there = 0;  // in the original's PID namespace
  Fd copy;            // pidfd
  Fd turn;            // of the original: a process that is being restored is not copied
};

// A lock's first four bytes are 0 if nobody holds it, both in glibc and in musl.
bool are_free(const std::vector<RemotePtr<uint32_t>>& locks, const RemoteMemory& memory) {
  return std::none_of(locks.begin(), locks.end(), [&](RemotePtr<uint32_t> at) { return memory.get_or_zero(at) != 0; });
}

// While a thread is borrowed, which the others do not wait for.
bool await_free(const std::vector<RemotePtr<uint32_t>>& locks, const RemoteMemory& memory) {
  constexpr std::chrono::milliseconds kPatience(2);
  for (const auto start = std::chrono::steady_clock::now(); !are_free(locks, memory);)
    if (std::chrono::steady_clock::now() - start > kPatience) return false;
  return true;
}

std::string answer_of(Trouble trouble, const std::string& text) { return static_cast<char>(trouble) + text; }

// Returns kMade and the copy's number, or a Trouble and text to follow "process N ".
std::string make_copy(pid_t pid, const std::vector<RemotePtr<uint32_t>>& locks, Made* made) {
  made->turn = lock_target(pid);
  if (!made->turn) return answer_of(Trouble::kRefused, kTargetBusy);
  const auto target = examine(pid);
  if (!target) return answer_of(Trouble::kRefused, target.error().text);
  const auto refusals = judge_call_filters(pid, target->code.system_call.number(), true);
  if (!refusals) return answer_of(Trouble::kRefused, refusals.error().text);
  const CodePtr exit_function = target->standalone
                                    ? target->standalone->function("_exit")
                                    : RemoteSymbols(target->memory, *target->libc).find<const uint8_t>("_exit");
  if (!exit_function) return answer_of(Trouble::kRefused, "has a libc without _exit");
  std::optional<BorrowedThread::Child> child;
  Trouble what = Trouble::kRefused;
  const std::string trouble = with_borrowed_thread(*target, [&](BorrowedThread& thread) -> std::string {
    if (!await_free(locks, target->memory)) {
      what = Trouble::kLocked;
      return ProcessCopy::kLockedText;
    }
    child = thread.copy_process(target->memory, exit_function);
    if (!child) {
      what = Trouble::kEnded;
      return "could not be copied: has it ended?";
    }
    return child->there > 0 ? "" : fmt::format("cannot be copied: {}", errno_text(static_cast<int>(-child->there)));
  });
  if (!trouble.empty()) return answer_of(what, trouble);
  made->original = pid;
  made->there = child->there;
  made->copy = Fd(static_cast<int>(::syscall(SYS_pidfd_open, child->pid, 0)));
  return kMade + std::to_string(child->pid);
}

// Returns text to follow "process N "; empty on success.
std::string end_copy(const Made& made) {
  constexpr int kMostWaitMs = 10'000;
  if (!made.copy) return "";
  (void)::syscall(SYS_pidfd_send_signal, made.copy.get(), SIGKILL, nullptr, 0);
  if (!is_readable(made.copy.get(), kMostWaitMs)) return kStays;
  if (::kill(made.original, 0) != 0) return "";  // init reaps it
  const auto target = examine(made.original);
  if (!target) return kStays;
  const auto there = static_cast<uint64_t>(made.there);
  const std::string trouble = with_borrowed_thread(*target, [&](BorrowedThread& thread) {
    const auto reaped = thread.call(SYS_wait4, {there, 0, __WALL | WNOHANG, 0, 0, 0});
    return std::string(reaped == made.there ? "" : kStays);
  });
  return ::kill(made.original, 0) == 0 ? trouble : "";
}

}  // namespace

Result<ProcessCopy> ProcessCopy::make(pid_t pid, const std::vector<RemotePtr<uint32_t>>& locks, Trouble* trouble) {
  *trouble = Trouble::kRefused;
  const auto made = std::make_shared<Made>();
  auto surgeon =
      Surgeon::start({[made, locks](const Surgeon::Order& order) {
                        return order.what == kMakeCopy ? make_copy(order.pid, locks, made.get()) : end_copy(*made);
                      },
                      [made] { (void)end_copy(*made); }});
  if (!surgeon) return surgeon.error();
  const std::string answer = PENNA_TRY(surgeon->request({kMakeCopy, pid}, {}));
  if (answer.empty() || answer[0] != kMade) {
    if (!answer.empty()) *trouble = static_cast<Trouble>(answer[0]);
    return Error{answer.substr(std::min<size_t>(answer.size(), 1))};
  }
  const auto copy = static_cast<pid_t>(std::strtol(answer.c_str() + 1, nullptr, 10));
  ProcessCopy process_copy(std::move(*surgeon), copy);
  // The other threads went on until the kernel had copied the lock.
  const auto memory = RemoteMemory::open(copy);
  if (!memory || are_free(locks, *memory)) return process_copy;
  PENNA_TRY(process_copy.end());
  *trouble = Trouble::kLocked;
  return Error{kLockedText};
}

Result<> ProcessCopy::end() {
  if (std::exchange(pid_, -1) < 0) return ok();
  const std::string trouble = PENNA_TRY(surgeon_->request({kEndCopy, 0}, {}));
  if (!trouble.empty()) return Error{trouble};
  return ok();
}

}  // namespace penna

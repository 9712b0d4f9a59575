// SPDX-License-Identifier: MIT
// See trap_action.h. Reference: rt_sigaction in sigaction(2), "C library/kernel differences"; proc(5), SigCgt.
#include "breakpoint/trap_action.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/file.h"
#include "breakpoint/registers_x86_64.h"
#include "reach/traced.h"

namespace penna {
namespace {

bool has_handler(pid_t thread) {
  constexpr std::string_view kCaught = "\nSigCgt:";
  const auto status = read_file(fmt::format("/proc/{}/status", thread), 64 << 10);
  const size_t at = status ? status->find(kCaught) : std::string::npos;
  return at != std::string::npos &&
         (std::strtoull(status->c_str() + at + kCaught.size(), nullptr, 16) & kTrapSignal) != 0;
}

}  // namespace

// The kernel copies the action from and to a page that exists only meanwhile: no memory of the program's is free for
// certain.
bool TrapAction::exchange(pid_t thread, uint64_t instruction, const RemoteMemory& memory, Action& action, bool sets) {
  constexpr uint64_t kAccess = PROT_READ | PROT_WRITE, kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  const auto page =
      make_system_call(thread, instruction, SYS_mmap, {0, sizeof action, kAccess, kFlags, ~uint64_t{0}, 0});
  if (!page || *page <= 0) return false;
  const auto at = static_cast<uint64_t>(*page);
  bool done = !sets || memory.write(at, &action, sizeof action);
  if (done)
    done = make_system_call(thread, instruction, SYS_rt_sigaction,
                            {SIGTRAP, sets ? at : 0, sets ? 0 : at, sizeof action.mask, 0, 0}) == 0;
  done = done && (sets || memory.read(at, &action, sizeof action));
  make_system_call(thread, instruction, SYS_munmap, {at, sizeof action, 0, 0, 0, 0});
  return done;
}

void TrapAction::look(pid_t thread, uint64_t instruction, const RemoteMemory& memory) {
  action_.reset();
  Action now{};
  if (has_handler(thread) && exchange(thread, instruction, memory, now, false)) action_ = now;
}

void TrapAction::keep(pid_t thread, uint64_t instruction, const RemoteMemory& memory) {
  const auto blocked = action_ ? blocked_signals(thread) : std::nullopt;
  // A thread that blocks SIGTRAP blocks others, too, and those it still does: most breakpoints cost no look at /proc.
  if (blocked.value_or(0) != 0 && !has_handler(thread)) {
    if (exchange(thread, instruction, memory, *action_, true)) block_signals(thread, *blocked | kTrapSignal);
    return;
  }
  if (++hits_ % kLookAgain == 0) look(thread, instruction, memory);
}

}  // namespace penna

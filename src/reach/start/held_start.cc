// SPDX-License-Identifier: MIT
// See held_start.h. References: ptrace(2), PTRACE_SEIZE and "Group-stop"; glibc's csu/libc-start.c, musl's
// src/env/__libc_start_main.c: in both, _init is the first of the program's own functions to be called.
#include "reach/start/held_start.h"

#include <fmt/core.h>
#include <sys/auxv.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/auxiliary_vector.h"
#include "base/file.h"
#include "base/in_proc.h"
#include "plan/file_symbols.h"
#include "reach/process/arch.h"
#include "reach/process/stop_thread.h"
#include "reach/process/thread_state.h"
#include "reach/process/traced.h"

namespace penna {
namespace {

constexpr long kStartPatienceUs = 10'000'000;
constexpr char kHasEnded[] = "has ended before its own code began";
constexpr char kTooLate[] = "did not reach its own code in time";

// 0 if there is none.
uint64_t place_in(const ElfFile& file) {
  uint64_t init = 0, main = 0;
  for_each_symbol(file, [&](std::string_view name, const GElf_Sym& symbol, bool) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_NOTYPE) return;  // musl's _init has no type
    if (name == "_init") init = symbol.st_value;
    if (name == "main") main = symbol.st_value;
  });
  return init != 0 ? init : main;
}

bool await_exec(pid_t pid) {
  for (;;) {
    const Stop stop = wait_for_stop(pid, pid, kStartPatienceUs);
    if (stop.signal == 0) return false;
    if (stop.event == PTRACE_EVENT_EXEC) return true;
    if (!go_on_after(pid, stop)) return false;
  }
}

// A traced process would stand still at its next signal. It may be stopped already. False: it is gone.
bool let_run(pid_t pid) {
  if (traced(PTRACE_DETACH, pid, 0, 0)) return true;
  return traced(PTRACE_INTERRUPT, pid, 0, 0) && await_interrupt(pid, pid, kStartPatienceUs) &&
         traced(PTRACE_DETACH, pid, 0, 0);
}

}  // namespace

Result<> HeldStart::watch(pid_t pid) {
  if (traced(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC)) return ok();
  return Error{
      fmt::format("cannot trace the started program: {}; see /proc/sys/kernel/yama/ptrace_scope", errno_text(errno))};
}

// The process is stopped at its exec.
Result<HeldStart> HeldStart::place(pid_t pid, Place where) {
  const uint64_t entry = auxiliary_value(pid, AT_ENTRY);
  uint64_t at = where == Place::kEntry ? entry : 0;
  if (where == Place::kInit) {
    const auto file = ElfFile::open(in_proc(pid, "exe"));
    const uint64_t in_file = file ? place_in(*file) : 0;
    if (in_file != 0 && entry != 0) at = in_file + (entry - file->header().e_entry);
  }
  if (at == 0) return Error{"has neither _init nor main, where it could be held"};
  HeldStart held(pid, PENNA_TRY(RemoteMemory::open(pid)), RemoteBytes(at));
  held.blocks_traps_ = (blocked_signals(pid).value_or(0) & kTrapSignal) != 0;
  if (!held.memory_.read(held.at_, held.before_) || !held.memory_.write(held.at_, kBreakpointByte))
    return Error{"has an unknown memory layout"};
  return held;
}

bool HeldStart::await() const {
  for (;;) {
    const Stop stop = wait_for_stop(pid_, pid_, kStartPatienceUs);
    ThreadState state;
    if (stop.signal == 0) return false;
    if (stop.event == 0 && stop.signal == SIGTRAP && state.save_registers(pid_) &&
        state.pc() == at_ + sizeof kBreakpointByte) {
      // The kernel unblocks the signal of a breakpoint.
      if (blocks_traps_) block_signals(pid_, blocked_signals(pid_).value_or(0) | kTrapSignal);
      return memory_.write(at_, kEndlessLoop) && state.go_on_at(pid_, at_);
    }
    if (!go_on_after(pid_, stop)) return false;
  }
}

// For a thread that we trace. False: it is gone.
bool HeldStart::put_back() const {
  return traced(PTRACE_INTERRUPT, pid_, 0, 0) && await_interrupt(pid_, pid_, kStartPatienceUs) &&
         memory_.write(at_, before_);
}

Result<HeldStart> HeldStart::hold(pid_t pid, Place where) {
  if (await_exec(pid)) return hold_at_exec(pid, where);
  return Error{let_run(pid) ? kTooLate : kHasEnded};
}

Result<HeldStart> HeldStart::hold_at_exec(pid_t pid, Place where) {
  auto held = place(pid, where);
  if (held && !(traced(PTRACE_CONT, pid, 0, 0) && held->await())) held = Error{held->put_back() ? kTooLate : kHasEnded};
  traced(PTRACE_DETACH, pid, 0, 0);
  return held;
}

bool HeldStart::let_go() const {
  if (!traced(PTRACE_SEIZE, pid_, 0, 0)) return false;
  const bool begins = put_back();
  traced(PTRACE_DETACH, pid_, 0, 0);
  return begins;
}

}  // namespace penna

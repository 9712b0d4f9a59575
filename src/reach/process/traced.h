// SPDX-License-Identifier: MIT
// ptrace(2) with typed arguments: numbers, and addresses in the other process.
//
// Invariant: none; each function states its preconditions.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/remote_ptr.h"

namespace penna {

// For a thread that we trace, from our thread that traces it. False: errno says why.
inline bool traced(int request, pid_t thread, uint64_t address, uint64_t data) {
  return ::ptrace(static_cast<__ptrace_request>(request), thread, reinterpret_cast<void*>(address),
                  reinterpret_cast<void*>(data)) != -1;
}

// The signals that a stopped thread blocks: bit N - 1 is signal N.
inline std::optional<uint64_t> blocked_signals(pid_t thread) {
  uint64_t blocked = 0;
  if (!traced(PTRACE_GETSIGMASK, thread, sizeof blocked, reinterpret_cast<uintptr_t>(&blocked))) return {};
  return blocked;
}
inline bool block_signals(pid_t thread, uint64_t blocked) {
  return traced(PTRACE_SETSIGMASK, thread, sizeof blocked, reinterpret_cast<uintptr_t>(&blocked));
}
inline constexpr uint64_t kAllSignals = ~uint64_t{0}, kTrapSignal = uint64_t{1} << (SIGTRAP - 1);

// Whether the stopped thread has a signal to handle: one that it does not block, of its own or of its process's queue.
inline bool has_signal(pid_t thread) {
  constexpr int kMost = 32;  // of each queue; blocked ones that wait there are looked over
  const auto blocked = blocked_signals(thread);
  for (const uint32_t queue : {uint32_t{0}, uint32_t{PTRACE_PEEKSIGINFO_SHARED}}) {
    siginfo_t signals[kMost];
    const __ptrace_peeksiginfo_args which{0, queue, kMost};
    const long count = ::ptrace(PTRACE_PEEKSIGINFO, thread, &which, signals);
    for (long i = 0; blocked && i < count; ++i)
      if ((*blocked >> (signals[i].si_signo - 1) & 1) == 0) return true;
  }
  return false;
}

// Eight bytes of a stopped thread's memory; empty if not mapped.
inline std::optional<uint64_t> peek(pid_t thread, RemotePtr<const uint64_t> at) {
  errno = 0;
  const long word = ::ptrace(PTRACE_PEEKDATA, thread, at.argument(), nullptr);
  return errno == 0 ? std::optional(static_cast<uint64_t>(word)) : std::nullopt;
}

// More of its memory: all or nothing.
template <typename T>
bool read_from(pid_t thread, RemotePtr<T> at, std::span<std::remove_const_t<T>> to) {
  static_assert(std::is_trivially_copyable_v<T>);
  const iovec ours{to.data(), to.size_bytes()}, theirs{at.argument(), to.size_bytes()};
  return ::process_vm_readv(thread, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(to.size_bytes());
}
template <typename T>
bool write_to(pid_t thread, RemotePtr<T> at, std::span<const std::type_identity_t<T>> from) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
  const iovec ours{const_cast<T*>(from.data()), from.size_bytes()};  // only read
  const iovec theirs{at.argument(), from.size_bytes()};
  return ::process_vm_writev(thread, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(from.size_bytes());
}

}  // namespace penna

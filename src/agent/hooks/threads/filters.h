// SPDX-License-Identifier: MIT
// A process denies itself system calls (seccomp), or the clock: from here on the agent avoids what it would be killed
// for.
//
// Invariant: between the filter and the agent's next system call, call_refusals is tested.
#pragma once

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "agent/core/call_filters.h"
#include "agent/core/channel_room.h"
#include "agent/core/lifecycle.h"
#include "agent/core/stopping.h"
#include "agent/core/writer.h"

namespace penna::agent {

// `install` returns a negative number if it fails; with `positive_fails`, anything but 0. What this thread has recorded
// is handed over while that is still allowed; what other threads have, the collector finds at the end.
template <typename Install>
auto install_filter(const void* program, Install install, bool positive_fails = false) {
  system_calls_filtered = true;
  const uint32_t refused = refused_by_filter(program);
  const bool ends_recording = (refused & kRefusesRecording) != 0 && process.channel != nullptr;
  if (ends_recording) close_chunk();
  if ((refused & kRefusesGrowth) != 0 && process.channel != nullptr)
    while (grow_chunks()) {
    }
  const auto result = install();
  if (result < 0 || (positive_fails && result != 0)) return result;
  call_refusals |= refused;
  if (ends_recording) leave_system_calls();
  return result;
}

// From now on, reading the clock kills the process and its children: stops recording. Also if the kernel then rejects
// the request.
inline void leave_clock() {
  clock_forbidden = true;
  call_refusals |= kRefusesStart;
  if (process.channel == nullptr || armed() == kStarted) return;
  stop_recording();
  thread.muted = 1;
  close_chunk();
  process.channel->counters.clock_forbidden = 1;
}

// prctl(option, first, second, ...), made by `ask`.
template <typename Ask>
auto change_process(long option, long first, long second, Ask ask) {
  if (option == PR_SET_SECCOMP) system_calls_filtered = true;
  const bool strict = option == PR_SET_SECCOMP && first == SECCOMP_MODE_STRICT;
  if (strict || (option == PR_SET_TSC && first == PR_TSC_SIGSEGV)) leave_clock();
  const bool filters = option == PR_SET_SECCOMP && first == SECCOMP_MODE_FILTER;
  return filters ? install_filter(reinterpret_cast<const void*>(second), ask) : ask();
}

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// A seccomp filter is being installed: from here on the agent avoids what the filter would kill it for.
//
// Invariant: between the filter and the agent's next system call, call_refusals is tested.
#pragma once

#include "agent/core/call_filters.h"
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
  const auto result = install();
  if (result < 0 || (positive_fails && result != 0)) return result;
  call_refusals |= refused;
  if (ends_recording) leave_system_calls();
  return result;
}

}  // namespace penna::agent

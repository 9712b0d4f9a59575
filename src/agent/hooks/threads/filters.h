// SPDX-License-Identifier: MIT
// A filter of system calls goes in: what it would kill the agent for is left from here on.
//
// Invariant: between the filter and the next call of the agent stands the test of call_refusals.
#pragma once

#include "agent/core/call_filters.h"
#include "agent/core/lifecycle.h"
#include "agent/core/writer.h"

namespace penna::agent {

// `install` gives a negative number when it fails; with `positive_fails`, any other than 0. What this thread has
// recorded is handed over while it may be; what other threads have, the collector finds at the end.
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

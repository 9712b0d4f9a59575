// SPDX-License-Identifier: MIT
// The address space limit that the program sets, adjusted by the agent's memory.
#pragma once

namespace penna::agent {

// For the duration of an exec, the limit is what the program asked for: the new program has none of the agent's
// memory. If the exec fails, it is raised again.
class RequestedLimits {
 public:
  RequestedLimits();
  ~RequestedLimits();
  RequestedLimits(const RequestedLimits&) = delete;
  RequestedLimits& operator=(const RequestedLimits&) = delete;

 private:
  bool lowered_ = false;
};

}  // namespace penna::agent

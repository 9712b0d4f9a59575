// SPDX-License-Identifier: MIT
// The limit of address space that the program gives itself, and what it is while the agent's memory counts against it.
#pragma once

namespace penna::agent {

// For the time of an exec the limit is what the program asked for: what is started has none of our memory. When it
// fails, it is raised again.
class LimitsAsAsked {
 public:
  LimitsAsAsked();
  ~LimitsAsAsked();
  LimitsAsAsked(const LimitsAsAsked&) = delete;
  LimitsAsAsked& operator=(const LimitsAsAsked&) = delete;

 private:
  bool lowered_ = false;
};

}  // namespace penna::agent

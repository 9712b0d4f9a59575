// SPDX-License-Identifier: MIT
// ProcessFamilies: who forked whom. Processes that descend from one another without an exec share the memory that their
// ancestor shared, at the same addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "model/events/event_cursor.h"
#include "recording/process_parents.h"
#include "recording/reader.h"

namespace penna {

class ProcessFamilies {
 public:
  explicit ProcessFamilies(const Recording& recording) : parents_(process_parents(recording)) {
    for (uint32_t i = 0; i < parents_.size(); ++i) {
      const bool is_forked = parents_[i] != kNoIndex && !recording.processes()[i].process.after_exec;
      roots_.push_back(is_forked ? roots_[parents_[i]] : i);
    }
  }

  uint32_t parent(uint32_t process) const { return parents_[process]; }  // kNoIndex: none is recorded
  bool are_related(uint32_t one, uint32_t other) const { return roots_[one] == roots_[other]; }
  size_t processes() const { return parents_.size(); }

 private:
  std::vector<uint32_t> parents_, roots_;  // parents have smaller indices
};

}  // namespace penna

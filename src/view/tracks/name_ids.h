// SPDX-License-Identifier: MIT
// NameIds: names by number, so that an answer has four bytes for a name that the page knows already.
//
// Invariant: a name keeps its number; 0 is "?". Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace penna {

class NameIds {
 public:
  NameIds() { id("?"); }

  uint32_t id(std::string_view name) {
    const auto [found, is_new] = ids_.try_emplace(std::string(name), static_cast<uint32_t>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return found->second;
  }
  uint32_t size() const { return static_cast<uint32_t>(names_.size()); }
  const std::string& name(uint32_t id) const { return names_[id]; }

 private:
  std::vector<std::string> names_;
  TextMap<uint32_t> ids_;
};

}  // namespace penna

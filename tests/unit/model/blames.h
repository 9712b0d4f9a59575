// SPDX-License-Identifier: MIT
// The blamed places of a verdict, as a list that a test can compare. Invariant: in the verdict's order.
#pragma once

#include <utility>
#include <vector>

#include "model/verdict/checks.h"

namespace penna {

using Blames = std::vector<std::pair<uint32_t, uint64_t>>;  // stack, amount

inline Blames blames_of(const Verdict& verdict) {
  Blames blames;
  for (const Blame& blame : verdict.blames) blames.emplace_back(blame.stack, blame.amount);
  return blames;
}

}  // namespace penna

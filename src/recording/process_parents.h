// SPDX-License-Identifier: MIT
// Which process of a recording was forked, or started, by which.
//
// Why here: calls, blocks and locks that a fork hands on are looked for in the parent, by readers of every layer.
// Invariant: a parent is an earlier process: following parents ends.
#pragma once

#include <cstdint>
#include <vector>

namespace penna {

class Recording;

// The process that each process was forked from (index), UINT32_MAX when there is none in the recording. Processes that
// came from an exec have the one that ran it.
std::vector<uint32_t> process_parents(const Recording& recording);

}  // namespace penna

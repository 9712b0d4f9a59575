// SPDX-License-Identifier: MIT
// Which process of a recording was forked or started by which.
//
// Why here: calls, blocks and locks inherited through a fork are looked up in the parent, by readers of every layer.
// Invariant: a parent is an earlier process: following parents ends.
#pragma once

#include <cstdint>
#include <vector>

namespace penna {

class Recording;

// For each process, the index of the process it was forked from, or UINT32_MAX if that is not in the recording. A
// process that came from an exec has the one that called it.
std::vector<uint32_t> process_parents(const Recording& recording);

}  // namespace penna

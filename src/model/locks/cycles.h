// SPDX-License-Identifier: MIT
// Cycles of a directed graph: a deadlock among threads, or a possible one among locks.
//
// Invariant: no recursion; each call reads each edge at most once.
#pragma once

#include <cstdint>
#include <vector>

namespace penna {

using Graph = std::vector<std::vector<uint32_t>>;  // by node: targets of its edges

// By node: the number of its strongly connected component (Tarjan, SIAM J. Comput. 1(2), 1972).
std::vector<uint32_t> strong_components(const Graph& graph);

// A shortest cycle through `from`, starting there; a node with an edge to itself is a cycle of one. Empty: there is
// none.
std::vector<uint32_t> shortest_cycle(const Graph& graph, const std::vector<uint32_t>& components, uint32_t from);

}  // namespace penna

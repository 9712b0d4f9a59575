// SPDX-License-Identifier: MIT
// Cycles of a directed graph: what a deadlock is among threads, and a possible one among locks.
//
// Invariant: without recursion; the work is that of reading each edge once, for each call.
#pragma once

#include <cstdint>
#include <vector>

namespace penna {

using Graph = std::vector<std::vector<uint32_t>>;  // by node: where its edges lead

// By node: a number that all nodes have in common that lead to each other (Tarjan, SIAM J. Comput. 1(2), 1972).
std::vector<uint32_t> strong_components(const Graph& graph);

// A shortest cycle through `from`, from it on; a node with an edge to itself is one of one. Empty: there is none.
std::vector<uint32_t> shortest_cycle(const Graph& graph, const std::vector<uint32_t>& components, uint32_t from);

}  // namespace penna

// SPDX-License-Identifier: MIT
// free_memory(): empties a container and frees its memory.
//
// Why: `container = {}` assigns an empty initializer list: the elements go, but the container keeps their memory.
// Invariant: the container is as if newly constructed.
#pragma once

namespace penna {

template <typename Container>
void free_memory(Container& container) {
  Container().swap(container);
}

}  // namespace penna

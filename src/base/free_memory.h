// SPDX-License-Identifier: MIT
// free_memory(): empties a container and gives its memory back.
//
// Why: `container = {}` assigns an empty initializer list: the elements go, their memory stays with the container.
// Invariant: the container is as if it had just been made.
#pragma once

namespace penna {

template <typename Container>
void free_memory(Container& container) {
  Container().swap(container);
}

}  // namespace penna

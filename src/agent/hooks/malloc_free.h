// SPDX-License-Identifier: MIT
// malloc and free, where the caller is to be seen by what they do: reached by a jump, as if it had called them.
#pragma once

#include <stddef.h>

namespace penna::agent {

void* recorded_malloc(size_t size);
void recorded_free(void* block);

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// The slow paths of malloc, realloc and free: reached by a jump, as if their caller had called them.
#pragma once

#include <stddef.h>

namespace penna::agent {

void* recorded_malloc(size_t size);
void* recorded_realloc(void* block, size_t size);
void recorded_free(void* block);

}  // namespace penna::agent

// SPDX-License-Identifier: MIT
// Bytes and C strings without libc: the target may have replaced strlen and its kin, or may be tracing them.
#pragma once

#include <stddef.h>

namespace penna::agent {

inline size_t text_length(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

// Zero when the first `length` characters are the same and neither text ends before.
inline int text_compare(const char* a, const char* b, size_t length) {
  for (size_t i = 0; i < length; ++i)
    if (a[i] != b[i] || a[i] == '\0') return 1;
  return 0;
}

// Copies `from` without its zero; returns where the next character goes.
inline char* text_append(char* to, const char* from) {
  while (*from != '\0') *to++ = *from++;
  return to;
}

}  // namespace penna::agent

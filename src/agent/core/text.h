// SPDX-License-Identifier: MIT
// Bytes and C strings without libc: the target may have interposed strlen and its kin, or be tracing them.
#pragma once

#include <stddef.h>

namespace penna::agent {

inline size_t text_length(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

// True if `text` begins with the first `length` characters of `prefix`. `length` may include the terminating zero.
inline bool text_begins(const char* text, const char* prefix, size_t length) {
  for (size_t i = 0; i < length; ++i)
    if (text[i] != prefix[i]) return false;
  return true;
}

// The last component of a path.
inline const char* file_name(const char* path) {
  const char* name = path;
  for (; *path != '\0'; ++path)
    if (*path == '/') name = path + 1;
  return name;
}

// Copies `from` without its terminating zero; returns the new end.
inline char* text_append(char* to, const char* from) {
  while (*from != '\0') *to++ = *from++;
  return to;
}

}  // namespace penna::agent

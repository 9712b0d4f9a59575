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

// True when `text` begins with the first `length` characters of `prefix`, which may count the zero at its end.
inline bool text_begins(const char* text, const char* prefix, size_t length) {
  for (size_t i = 0; i < length; ++i)
    if (text[i] != prefix[i]) return false;
  return true;
}

// The last part of a path.
inline const char* file_name(const char* path) {
  const char* name = path;
  for (; *path != '\0'; ++path)
    if (*path == '/') name = path + 1;
  return name;
}

// Copies `from` without its zero; returns where the next character goes.
inline char* text_append(char* to, const char* from) {
  while (*from != '\0') *to++ = *from++;
  return to;
}

}  // namespace penna::agent

/* SPDX-License-Identifier: MIT
 *
 * glob.h: globs, as users write them for points: "db:*", "net:send?", "cache:[gs]et". Linear except for stars: one pass
 * that remembers the last one; after a mismatch, that star takes one more character.
 */
#ifndef PENNA_DETAIL_GLOB_H
#define PENNA_DETAIL_GLOB_H

#include <stddef.h>

#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

/* Matches one character against a set; `pattern` is after its [. Returns the end of the set, or null if it is not
 * closed. */
static inline const char* penna_glob_set(const char* pattern, char c, int* matched) {
  int inverted = *pattern == '!' || *pattern == '^', found = 0;
  if (inverted) ++pattern;
  /* A ] right after the [ is a member of the set, and a - before the ] stands for itself (glob(7)). */
  for (const char* first = pattern; *pattern != '\0' && (*pattern != ']' || pattern == first); ++pattern) {
    char low = *pattern, high = low;
    if (pattern[1] == '-' && pattern[2] != ']' && pattern[2] != '\0') {
      high = pattern[2];
      pattern += 2;
    }
    found |= c >= low && c <= high;
  }
  *matched = found != inverted;
  return *pattern == ']' ? pattern + 1 : NULL;
}

/* 1 if all of `text` matches `pattern`: * any characters, ? any one, [a-z] or [!a-z] one of a set, \x is x itself. A
 * set without an end matches nothing. */
static inline int penna_glob_matches(const char* pattern, const char* text) {
  const char* star = NULL; /* after the last *, and the text from which it was tried */
  const char* tried = NULL;
  for (;;) {
    int matched = 0;
    const char* next = pattern + 1;
    if (*pattern == '*') {
      /* A later star makes an earlier one final: no other choice for that one could lead further. */
      star = next;
      tried = text;
      pattern = next;
      continue;
    }
    if (*text == '\0') return *pattern == '\0';
    if (*pattern == '?') {
      matched = 1;
    } else if (*pattern == '[') {
      next = penna_glob_set(pattern + 1, *text, &matched);
      if (next == NULL) return 0;
    } else if (*pattern == '\\' && pattern[1] != '\0') {
      matched = *text == pattern[1];
      next = pattern + 2;
    } else {
      matched = *pattern == *text; /* false at the pattern's end */
    }
    if (matched) {
      pattern = next;
      ++text;
    } else if (star != NULL) {
      pattern = star;
      text = ++tried;
    } else {
      return 0;
    }
  }
}

PENNA_C_CODE_END

#endif

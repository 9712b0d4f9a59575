// SPDX-License-Identifier: MIT
// See glob.h. One pass with a memory of the last star: where it fails, that star takes one character more.
#include "agent/glob.h"

namespace penna::agent {
namespace {

// One character against a set; `pattern` stands behind its [. Returns where the set ends, or null when it does not.
const char* match_set(const char* pattern, char c, bool* matched) {
  bool inverted = *pattern == '!' || *pattern == '^';
  if (inverted) ++pattern;
  bool found = false;
  for (const char* first = pattern; *pattern != '\0' && (*pattern != ']' || pattern == first); ++pattern) {
    char low = *pattern, high = low;
    if (pattern[1] == '-' && pattern[2] != ']' && pattern[2] != '\0') {
      high = pattern[2];
      pattern += 2;
    }
    found |= c >= low && c <= high;
  }
  *matched = found != inverted;
  return *pattern == ']' ? pattern + 1 : nullptr;
}

}  // namespace

bool glob_matches(const char* pattern, const char* text) {
  const char* star = nullptr;  // behind the last *, and the text that it has been tried on
  const char* tried = nullptr;
  for (;;) {
    bool matched = false;
    const char* next = pattern + 1;
    if (*pattern == '*') {
      star = next;
      tried = text;
      pattern = next;
      continue;
    }
    if (*text == '\0') return *pattern == '\0';
    if (*pattern == '?') {
      matched = true;
    } else if (*pattern == '[') {
      next = match_set(pattern + 1, *text, &matched);
      if (next == nullptr) return false;
    } else if (*pattern == '\\' && pattern[1] != '\0') {
      matched = *text == pattern[1];
      next = pattern + 2;
    } else {
      matched = *pattern == *text;  // false at the pattern's end
    }
    if (matched) {
      pattern = next;
      ++text;
    } else if (star != nullptr) {
      pattern = star;
      text = ++tried;
    } else {
      return false;
    }
  }
}

}  // namespace penna::agent

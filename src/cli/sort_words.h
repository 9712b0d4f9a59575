// SPDX-License-Identifier: MIT
// Sorts a verb's words that are not options: one from a list ("calls", "csv"), in any position, and files.
//
// Invariant: if the words do not fit, the error blames the one that is neither in the list nor a file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace penna {

struct WordList {
  const char* what;  // "table"
  std::vector<std::string> known;
  size_t most_files;
  const char* all;  // "one recording and one table"
};
struct SortedWords {
  std::string known;  // empty: none
  std::vector<std::string> files;
};
// A word from the list is taken as such even if a file has that name: ./NAME refers to the file.
Result<SortedWords> sort_words(const std::vector<std::string>& words, const WordList& list);

// Whether the word certainly refers to a file: by its form, or because it exists.
bool is_meant_as_file(const std::string& word);

}  // namespace penna

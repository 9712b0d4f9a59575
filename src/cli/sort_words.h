// SPDX-License-Identifier: MIT
// Of the words of a verb that are no options: which is one of a list ("calls", "csv"), in whatever place, and which are
// files.
//
// Invariant: of words that do not fit, the one is blamed that is neither of the list nor a file.
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
// A word that is of the list is taken as such even when a file is called so: ./NAME names the file.
Result<SortedWords> sort_words(const std::vector<std::string>& words, const WordList& list);

// Is it certainly meant to be a file: by its name, or because there is one?
bool is_meant_as_file(const std::string& word);

}  // namespace penna

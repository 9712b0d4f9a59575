// SPDX-License-Identifier: MIT
// See sort_words.h.
#include "cli/sort_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/nearest_name.h"

namespace penna {

bool is_meant_as_file(const std::string& word) {
  return word == "-" || word.find('/') != std::string::npos || word.ends_with(".penna") ||
         ::access(word.c_str(), F_OK) == 0;
}

Result<SortedWords> sort_words(const std::vector<std::string>& words, const WordList& list) {
  SortedWords sorted;
  for (const std::string& word : words)
    if (sorted.known.empty() && std::find(list.known.begin(), list.known.end(), word) != list.known.end())
      sorted.known = word;
    else
      sorted.files.push_back(word);
  if (sorted.files.size() <= list.most_files) return sorted;
  if (sorted.known.empty()) {
    const auto wrong = std::find_if_not(sorted.files.begin(), sorted.files.end(), is_meant_as_file);
    if (wrong != sorted.files.end()) return Error{there_is_no(list.what, *wrong, list.known)};
  }
  return Error{fmt::format("unexpected argument '{}': give {}", sorted.files[list.most_files], list.all)};
}

}  // namespace penna

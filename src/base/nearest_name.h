// SPDX-License-Identifier: MIT
// NearestName: of all names that it sees, the one that an unmatched pattern was most likely meant to be; and how every
// message suggests it.
//
// Letters that are inserted, deleted, changed, or swapped with their neighbour count one each; a * in the pattern
// stands for anything.
// Invariant: it suggests a name only if at most a third of the pattern's letters is wrong; of several that are as near,
// the first of the alphabet, in whatever order it sees them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penna {

class NearestName {
 public:
  explicit NearestName(std::string pattern);

  const std::string& pattern() const { return pattern_; }
  void see(std::string_view name);
  // Empty: none is near.
  const std::string& name() const { return name_; }
  // " (did you mean 'NAME'?)", or nothing.
  std::string hint() const;
  // "PATTERN (did you mean 'NAME'?)", or just PATTERN.
  std::string text() const { return pattern_ + hint(); }

 private:
  size_t wrong_letters(std::string_view name) const;

  std::string pattern_, name_;
  size_t least_;  // a name with fewer wrong letters is nearer
};

// NearestName::hint(), for a name or none (""); and how it begins, for code that removes one from a text.
std::string hint_of(std::string_view name);
inline constexpr std::string_view kHintBegins = " (did you mean ";

// From a short list of words in lower case: the nearest, or the only one that begins like `typed`. Empty: none.
std::string nearest_of(const std::string& typed, std::span<const std::string> words);

// "there is no WHAT 'WORD' (did you mean 'NAME'?): choose from A, B and C", for a list that fits on a line.
std::string there_is_no(std::string_view what, const std::string& word, std::span<const std::string> words);

}  // namespace penna

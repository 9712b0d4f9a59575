// SPDX-License-Identifier: MIT
// NearestName: of all names that it sees, the one that a pattern which met nothing was most likely meant to be; and how
// every message offers it.
//
// Letters that are added, taken away, changed, or swapped with their neighbour count one each; a * in the pattern
// stands for anything.
// Invariant: it tells a name only when at most a third of the pattern's letters is wrong.
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
  // Empty: none of them is near.
  const std::string& name() const { return name_; }
  // " (did you mean 'NAME'?)", or nothing.
  std::string hint() const;
  // "PATTERN (did you mean 'NAME'?)", or PATTERN alone.
  std::string text() const { return pattern_ + hint(); }

 private:
  size_t wrong_letters(std::string_view name) const;

  std::string pattern_, name_;
  size_t least_;  // a name with fewer wrong letters is nearer
};

// NearestName::hint(), of a name or of none (""); and how it begins, for who has to take one out of a text.
std::string hint_of(std::string_view name);
inline constexpr std::string_view kHintBegins = " (did you mean ";

// Of a few words that there are, in small letters: the nearest, or the only one that begins like `typed`. Empty: none.
std::string nearest_of(const std::string& typed, std::span<const std::string> words);

// "there is no WHAT 'WORD' (did you mean 'NAME'?): choose from A, B and C", for a list that a line can hold.
std::string there_is_no(std::string_view what, const std::string& word, std::span<const std::string> words);

}  // namespace penna

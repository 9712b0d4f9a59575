// SPDX-License-Identifier: MIT
// NearestName: of all names that it sees, the one that a pattern which met nothing was most likely meant to be.
//
// Letters that are added, taken away, changed, or swapped with their neighbour count one each; a * in the pattern
// stands for anything.
// Invariant: it tells a name only when at most a third of the pattern's letters is wrong.
#pragma once

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
  // " (is it NAME?)", or nothing.
  std::string hint() const { return name_.empty() ? "" : " (is it " + name_ + "?)"; }
  // "PATTERN (is it NAME?)", or PATTERN alone.
  std::string text() const { return pattern_ + hint(); }

 private:
  size_t wrong_letters(std::string_view name) const;

  std::string pattern_, name_;
  size_t least_;  // a name with fewer wrong letters is nearer
};

}  // namespace penna

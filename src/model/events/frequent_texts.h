// SPDX-License-Identifier: MIT
// FrequentTexts: the most frequent texts, in bounded memory regardless of how many different ones occur.
//
// Up to kMost different texts are counted exactly. When more come, the rarer half is forgotten, and an upper bound of
// their counts is kept: no forgotten text occurred more often. (Space-Saving, Metwally and others, ICDT 2005, with many
// evictions at once.) So a text that occurs often enough is found, wherever in the recording it occurs.
// Invariant: for every text held, count <= occurrences <= count + missed; every other text occurred <= forgotten()
// times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace penna {

class FrequentTexts {
 public:
  static constexpr size_t kMost = 4096;
  struct Count {
    std::string text;
    uint64_t count;   // occurred at least this often
    uint64_t missed;  // and at most this much more often; 0: exact
  };

  void add(std::string_view text);
  // Most frequent first; only those that occurred more often than any forgotten text can have.
  std::vector<Count> top(size_t limit) const;
  uint64_t forgotten() const { return forgotten_; }  // 0: all texts are counted exactly
  uint64_t at_most() const;                          // no text occurred more often
  size_t size() const { return counts_.size(); }

 private:
  struct Bounds {
    uint64_t count, missed;
  };
  void forget_the_rare();

  TextMap<Bounds> counts_;
  uint64_t forgotten_ = 0;
};

}  // namespace penna

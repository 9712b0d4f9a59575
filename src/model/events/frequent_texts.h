// SPDX-License-Identifier: MIT
// FrequentTexts: which texts came most often, in bounded memory however many different ones there are.
//
// Up to kMost different texts are counted exactly. When more come, the rarer half is forgotten, and how often the most
// frequent of them can have come is remembered: no forgotten text came more often. (Space-Saving, Metwally and others,
// ICDT 2005, with many evictions at once.) So a text that came often enough is found, wherever in the recording it
// came.
// Invariant: of every text here, count <= how often it came <= count + missed; of every other, it came <= forgotten()
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
    uint64_t count;   // at least so often
    uint64_t missed;  // and at most so much more often; 0: exactly
  };

  void add(std::string_view text);
  // The most frequent first; only those that came more often than any that was forgotten can have come.
  std::vector<Count> top(size_t limit) const;
  uint64_t forgotten() const { return forgotten_; }  // 0: all texts are counted exactly
  uint64_t at_most() const;                          // no text came more often
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

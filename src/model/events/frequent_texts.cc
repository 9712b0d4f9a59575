// SPDX-License-Identifier: MIT
// See frequent_texts.h.
#include "model/events/frequent_texts.h"

#include <algorithm>

namespace penna {

void FrequentTexts::add(std::string_view text) {
  if (auto found = counts_.find(text); found != counts_.end()) {
    ++found.value().count;
    return;
  }
  if (counts_.size() == kMost) forget_the_rare();
  counts_.emplace(std::string(text), Bounds{1, forgotten_});
}

// Forgets those at the median and below, at least one half: so as many new texts fit until the next time.
void FrequentTexts::forget_the_rare() {
  std::vector<uint64_t> most;
  most.reserve(counts_.size());
  for (const auto& [text, bounds] : counts_) most.push_back(bounds.count + bounds.missed);
  const auto middle = most.begin() + static_cast<ptrdiff_t>(most.size() / 2);
  std::nth_element(most.begin(), middle, most.end());
  forgotten_ = *middle;
  for (auto each = counts_.begin(); each != counts_.end();)
    each = each->second.count + each->second.missed <= forgotten_ ? counts_.erase(each) : std::next(each);
}

std::vector<FrequentTexts::Count> FrequentTexts::top(size_t limit) const {
  std::vector<Count> result;
  for (const auto& [text, bounds] : counts_)
    if (bounds.count > forgotten_) result.push_back({text, bounds.count, bounds.missed});
  const auto end = result.begin() + static_cast<ptrdiff_t>(std::min(limit, result.size()));
  std::partial_sort(result.begin(), end, result.end(), [](const Count& a, const Count& b) {
    return a.count != b.count ? a.count > b.count : a.text < b.text;
  });
  result.erase(end, result.end());
  return result;
}

uint64_t FrequentTexts::at_most() const {
  uint64_t most = forgotten_;
  for (const auto& [text, bounds] : counts_) most = std::max(most, bounds.count + bounds.missed);
  return most;
}

}  // namespace penna

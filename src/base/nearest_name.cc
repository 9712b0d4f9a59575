// SPDX-License-Identifier: MIT
// See nearest_name.h.
#include "base/nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace penna {
namespace {

constexpr size_t kLongest = 200;  // longer names are not compared

}  // namespace

std::string hint_of(std::string_view name) {
  return name.empty() ? std::string() : fmt::format("{}'{}'?)", kHintBegins, name);
}

NearestName::NearestName(std::string pattern) : pattern_(std::move(pattern)) {
  const auto stars = static_cast<size_t>(std::count(pattern_.begin(), pattern_.end(), '*'));
  least_ = (pattern_.size() - stars + 1) / 3 + 1;
  if (pattern_.size() > kLongest) least_ = 0;
}

void NearestName::see(std::string_view name) {
  if (least_ == 0 || name.empty() || name.size() > kLongest) return;
  const bool has_star = pattern_.find('*') != std::string::npos;
  if (!has_star && name.size() >= pattern_.size() + least_) return;
  if (!has_star && pattern_.size() >= name.size() + least_) return;
  const size_t wrong = wrong_letters(name);
  const bool as_near = wrong == least_ && !name_.empty() && name < name_;
  if (wrong >= least_ && !as_near) return;
  least_ = wrong;
  name_ = name;
}

std::string NearestName::hint() const { return hint_of(name_); }

// The table of Wagner and Fischer, row by row, including transpositions (optimal string alignment).
size_t NearestName::wrong_letters(std::string_view name) const {
  std::vector<size_t> before, last(name.size() + 1), row(name.size() + 1);
  for (size_t at = 0; at <= name.size(); ++at) last[at] = at;
  for (size_t i = 0; i < pattern_.size(); ++i) {
    const char letter = pattern_[i];
    row[0] = last[0] + (letter != '*');
    for (size_t at = 1; at <= name.size(); ++at) {
      if (letter == '*') {
        row[at] = std::min(last[at], row[at - 1]);
        continue;
      }
      const bool same = letter == name[at - 1] || letter == '?';
      row[at] = std::min({last[at] + 1, row[at - 1] + 1, last[at - 1] + !same});
      if (i > 0 && at > 1 && letter == name[at - 2] && pattern_[i - 1] == name[at - 1])
        row[at] = std::min(row[at], before[at - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last.back();
}

// A prefix of two letters says too little.
std::string nearest_of(const std::string& typed, std::span<const std::string> words) {
  std::string word = typed;
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  NearestName nearest(word);
  for (const std::string& one : words) nearest.see(one);
  if (!nearest.name().empty() || word.size() < 3) return nearest.name();
  std::string found;
  for (const std::string& one : words) {
    if (!one.starts_with(word)) continue;
    if (!found.empty()) return {};
    found = one;
  }
  return found;
}

std::string there_is_no(std::string_view what, const std::string& word, std::span<const std::string> words) {
  return fmt::format("there is no {} '{}'{}: choose from {}", what, word, hint_of(nearest_of(word, words)),
                     fmt::join(words, ", "));
}

}  // namespace penna

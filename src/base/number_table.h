// SPDX-License-Identifier: MIT
// NumberTable: a hash map keyed by numbers, for tables that do not fit into the cache and are asked in an order that is
// known a little earlier: prefetch() fetches a place while other work is done.
//
// Why not NumberMap: it has no way to fetch ahead, and each place holds key and value: a search that fails touches more
// memory. Here keys are apart, eight in a cache line, probed one after the other (Knuth, TAOCP 3, 6.4, algorithms L and
// R). Hash values are the upper bits of a product, so that addresses spread.
// Invariant: from the place that a key's hash names to its own there is no free place; at most 3/4 of the places are
// used. A pointer to a value is valid until the next insert or erase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace penna {

// T: copied freely.
template <typename T>
class NumberTable {
 public:
  size_t size() const { return used_ + last_.has_value(); }

  void prefetch(uint64_t key) const {
    if (keys_.empty()) return;
    const size_t at = home(key);
    __builtin_prefetch(&keys_[at]);
    __builtin_prefetch(&values_[at]);
    asm volatile("");  // gcc leaves out calls of functions that do nothing but prefetch
  }
  T* find(uint64_t key) { return const_cast<T*>(std::as_const(*this).find(key)); }
  const T* find(uint64_t key) const {
    if (key == kFree) [[unlikely]]
      return last_ ? &*last_ : nullptr;
    if (keys_.empty()) return nullptr;
    const size_t at = place_of(key);
    return keys_[at] == key ? &values_[at] : nullptr;
  }
  // The value of the key, and whether it was added just now.
  struct Entry {
    T* value;
    bool added;
  };
  Entry try_emplace(uint64_t key, const T& value) {
    if (key == kFree) [[unlikely]] {
      const bool is_new = !last_;
      if (is_new) last_ = value;
      return {&*last_, is_new};
    }
    if (used_ >= most_) grow();
    const size_t at = place_of(key);
    if (keys_[at] == key) return {&values_[at], false};
    keys_[at] = key;
    values_[at] = value;
    ++used_;
    return {&values_[at], true};
  }
  // Removes what find() has found. Those behind it that could lie here move up, so that no searches end early.
  void erase(const T* found) {
    if (last_ && found == &*last_) return last_.reset();
    auto free = static_cast<size_t>(found - values_.data());
    const size_t mask = keys_.size() - 1;
    for (size_t at = free; at = (at + 1) & mask, keys_[at] != kFree;) {
      if (((at - home(keys_[at])) & mask) < ((at - free) & mask)) continue;
      keys_[free] = keys_[at];
      values_[free] = values_[at];
      free = at;
    }
    keys_[free] = kFree;
    --used_;
  }
  // In no order: visit(key, value).
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (size_t at = 0; at < keys_.size(); ++at)
      if (keys_[at] != kFree) visit(keys_[at], values_[at]);
    if (last_) visit(kFree, *last_);
  }

 private:
  static constexpr uint64_t kFree = UINT64_MAX;  // as a key, it is not among the others

  size_t home(uint64_t key) const { return key * UINT64_C(0x9e3779b97f4a7c15) >> shift_; }
  // Where the key is, or else where it would be put.
  size_t place_of(uint64_t key) const {
    const size_t mask = keys_.size() - 1;
    size_t at = home(key);
    while (keys_[at] != key && keys_[at] != kFree) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    constexpr size_t kLeast = 64;
    NumberTable larger;
    const size_t places = keys_.empty() ? kLeast : 2 * keys_.size();
    larger.keys_.assign(places, kFree);
    larger.values_.resize(places);
    larger.shift_ = static_cast<uint32_t>(__builtin_clzll(places - 1));
    larger.most_ = places / 4 * 3;
    larger.used_ = used_;
    larger.last_ = last_;
    for (size_t from = 0; from < keys_.size(); ++from) {
      if (keys_[from] == kFree) continue;
      const size_t at = larger.place_of(keys_[from]);
      larger.keys_[at] = keys_[from];
      larger.values_[at] = values_[from];
    }
    *this = std::move(larger);
  }

  std::vector<uint64_t> keys_;  // kFree: no entry; a power of two
  std::vector<T> values_;
  uint32_t shift_ = 0;
  size_t used_ = 0, most_ = 0;
  std::optional<T> last_;  // of the key kFree
};

}  // namespace penna

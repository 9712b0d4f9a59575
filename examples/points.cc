// SPDX-License-Identifier: MIT
// Points in a C++ program: templates, lambdas, strings and enum classes.
//
//     c++ -std=c++17 -O2 -I include examples/points.cc -o points
//     penna record -k points -- ./points && penna replay
// Without penna the points cost two nops each.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "penna/point.h"

enum class Outcome : uint8_t { kMiss, kHit, kEvicted };

template <class Key, class Value>
class Cache {
 public:
  explicit Cache(size_t limit) : limit_(limit) {}

  template <class Make>
  const Value& get(const Key& key, Make make) {
    auto found = values_.find(key);
    Outcome outcome = Outcome::kHit;
    if (found == values_.end()) {
      outcome = values_.size() >= limit_ ? Outcome::kEvicted : Outcome::kMiss;
      if (outcome == Outcome::kEvicted) values_.erase(values_.begin());
      found = values_.emplace(key, make(key)).first;
    }
    PENNA_EVENT(cache, get, key, found->second, outcome, values_.size());
    return found->second;
  }

 private:
  size_t limit_;
  std::map<Key, Value> values_;
};

int main() {
  Cache<int, std::string> words(16);
  Cache<std::string, double> numbers(8);
  size_t letters = 0;
  auto spell = [&](int number) {
    std::string text = "number " + std::to_string(number);
    PENNA_EVENT(cache, spell, number, std::string_view(text).substr(7));
    return text;
  };
  for (int i = 0; i < 500; ++i) {
    const std::string& word = words.get(i * i % 23, spell);
    double value = numbers.get(word, [](const std::string& text) { return static_cast<double>(text.size()) / 3; });
    letters += word.size() + static_cast<size_t>(value);
  }
  std::printf("%zu letters\n", letters);
}

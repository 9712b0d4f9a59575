// SPDX-License-Identifier: MIT
// Hash maps: NumberMap, keyed by addresses and ids; TextMap, keyed by strings.
//
// Why not the default hash: it is the identity, and addresses are multiples of 16: fifteen buckets of sixteen would
// stay empty. One multiplication (Fibonacci hashing, Knuth, TAOCP 3, 6.4) spreads them. Invariant: none.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace penna {

struct MixHash {
  size_t operator()(uint64_t key) const {
    const uint64_t mixed = key * 0x9e3779b97f4a7c15;
    return mixed ^ (mixed >> 32);
  }
};

template <typename T>
using NumberMap = tsl::robin_map<uint64_t, T, MixHash>;

// A map keyed by strings that can be looked up with views.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <typename T>
using TextMap = tsl::robin_map<std::string, T, TextHash, std::equal_to<>>;

// Two 32-bit numbers as one key.
inline uint64_t pair_key(uint32_t first, uint32_t second) { return uint64_t{first} << 32 | second; }

}  // namespace penna

// SPDX-License-Identifier: MIT
// The hash maps of the model: TextMap, keyed by strings; NumberMap is base/hash.h.
// Invariant: none.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace penna {

// A map keyed by strings that is asked with views.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <typename T>
using TextMap = tsl::robin_map<std::string, T, TextHash, std::equal_to<>>;

// Two 32-bit numbers as one key.
inline uint64_t pair_key(uint32_t first, uint32_t second) { return uint64_t{first} << 32 | second; }

}  // namespace penna

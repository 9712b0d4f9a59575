// SPDX-License-Identifier: MIT
// NumberMap: hash maps keyed by addresses and ids.
//
// Why not the default hash: it is the number itself, and addresses are multiples of 16: fifteen buckets of sixteen would
// stay empty. One multiplication (Fibonacci hashing, Knuth, TAOCP 3, 6.4) spreads them. Invariant: none.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>

namespace penna {

struct MixHash {
  size_t operator()(uint64_t key) const {
    const uint64_t mixed = key * 0x9e3779b97f4a7c15;
    return mixed ^ (mixed >> 32);
  }
};

template <typename T>
using NumberMap = tsl::robin_map<uint64_t, T, MixHash>;

}  // namespace penna

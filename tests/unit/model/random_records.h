// SPDX-License-Identifier: MIT
// Records that no agent would write, for the tests that nothing crashes, hangs or lies on them.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "recording_builder.h"

namespace penna {

// Records of all kinds, known or not, whose words are small (so that they collide) or anything at all.
inline void fill_at_random(ThreadBuilder& thread, std::mt19937_64& random) {
  uint64_t time = random() % 1000;
  for (int i = 0; i < 400; ++i) {
    time += random() % 50;
    const auto kind = static_cast<uint32_t>(2 + random() % 24);
    std::vector<uint8_t> payload(8 * (random() % 12 + (kind < PENNA_KIND_COUNT ? 8 : 0)));
    for (size_t at = 0; at < payload.size(); at += 8) {
      const uint64_t word = random() % 4 == 0 ? random() : random() % 12;
      std::memcpy(payload.data() + at, &word, sizeof word);
    }
    thread.raw(kind, random() % 20 == 0 ? time - std::min<uint64_t>(time, random() % 100) : time, payload);
  }
}

}  // namespace penna

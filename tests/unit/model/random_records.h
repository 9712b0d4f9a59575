// SPDX-License-Identifier: MIT
// Records that no agent would write, for tests that nothing crashes, hangs or misreports on them.
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
    const auto kind = static_cast<uint32_t>(2 + random() % 34);
    std::vector<uint8_t> payload(8 * (random() % 12 + (kind < PENNA_KIND_COUNT ? 8 : 0)));
    for (size_t at = 0; at < payload.size(); at += 8) {
      uint64_t word = random() % 4 == 0 ? random() : random() % 12;
      if (at == 0 && random() % 2 == 0) word |= random() % (PENNA_SYNC_COUNT + 1) << 56;  // of locks: what they are
      std::memcpy(payload.data() + at, &word, sizeof word);
    }
    thread.raw(kind, random() % 20 == 0 ? time - std::min<uint64_t>(time, random() % 100) : time, payload);
  }
}

// Calls as programs make them, mostly: nested, in their compact form, from few functions; some exits are lost or of others,
// some calls are left by jumps, and now and then there is another event, a time that lies back, a lost chunk.
inline void call_at_random(ThreadBuilder& thread, std::mt19937_64& random, int events) {
  std::vector<uint64_t> open;
  uint64_t time = random() % 1000;
  for (int i = 0; i < events; ++i) {
    time += random() % 50;
    const uint64_t pc = (random() % 50 == 0 ? 0x7f0000000000 : 0x400000) + random() % 12 * 16;
    const uint64_t when = random() % 30 == 0 ? time - std::min<uint64_t>(time, random() % 100) : time;
    const uint64_t what = random() % 200;
    if (what == 0) {
      thread.alloc(0xa000 + random() % 64 * 16, 16, when);
    } else if (what == 1) {
      thread.lost(static_cast<uint32_t>(random() % 9), when);
    } else if (what < 6) {
      const auto kind = static_cast<penna_jump_what>(PENNA_JUMP_SAVE + random() % 4);
      thread.jump(kind, random() % 4, when, random() % 4);
    } else if (what == 6) {
      thread.record(PENNA_KIND_CALL_ENTRY, when, penna_call{pc});
    } else if (what == 7) {
      thread.exit(pc, when);
    } else if (what == 8) {
      random() % 4 == 0 ? thread.skip_chunk() : thread.new_chunk();
    } else if (what % 2 == 0 || open.empty()) {
      thread.enter(pc, when);
      open.push_back(pc);
    } else {
      thread.exit(open.back(), when);
      open.pop_back();
    }
  }
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See losses.h.
#include "model/verdict/losses.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/count_text.h"

namespace penna {
namespace {

struct Cause {
  uint32_t event_class;
  const char* text;  // cause and next step
};

// In the order of penna_loss.
constexpr Cause kCauses[PENNA_LOSS_COUNT] = {
#define PENNA_LOSS(number, name, event_class, key, meaning, text) {PENNA_##event_class, text},
#include "penna/losses.inc"
#undef PENNA_LOSS
};

bool any(const EventCounts& counts) {
  return std::any_of(counts.begin(), counts.end(), [](uint64_t count) { return count != 0; });
}

}  // namespace

void Losses::add(const penna_counters& counters) {
  for (uint32_t i = 0; i < PENNA_LOSS_COUNT; ++i) for_want[i] = add_counts(for_want[i], counters.lost_for[i]);
}

EventCounts Losses::without_chunk() const {
  EventCounts rest = events;
  for (uint32_t i = 0; i < PENNA_LOSS_COUNT; ++i) {
    uint64_t& events_left = rest[kCauses[i].event_class];
    events_left -= std::min(events_left, for_want[i]);  // a target counts what it likes
  }
  return rest;
}

std::vector<std::string> loss_texts(const Losses& losses) {
  std::vector<std::string> texts;
  if (const EventCounts rest = losses.without_chunk(); any(rest))
    texts.push_back(fmt::format("{}, as {}", events_text(rest),
                                losses.waits ? "threads held all of the pool's memory: record with a larger --pool"
                                             : "the pool was full: record with --on-full=block, or a larger --pool"));
  for (uint32_t i = 0; i < PENNA_LOSS_COUNT; ++i) {
    if (losses.for_want[i] == 0) continue;
    EventCounts counts{};
    counts[kCauses[i].event_class] = losses.for_want[i];
    texts.push_back(fmt::format("{}, {}", events_text(counts), kCauses[i].text));
  }
  return texts;
}

}  // namespace penna

// SPDX-License-Identifier: MIT
// See health_counters.h.
#include "model/verdict/health_counters.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/count_text.h"
#include "model/verdict/health.h"

namespace penna {
namespace {

uint64_t sum_of(const EventCounts& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

uint64_t whole(double value) { return value >= 9.2e18 ? INT64_MAX : static_cast<uint64_t>(std::llround(value)); }

constexpr auto kCounters = [] {
  std::array all = {
#define PENNA_HEALTH_COUNTED(rank, section, value, severity, uses, key, name, meaning, one, many, rest) \
  HealthCounter{rank,                                                                                   \
                HealthSection::section,                                                                 \
                [](const HealthReport& h) -> uint64_t { return value; },                                \
                Severity::severity,                                                                     \
                uses,                                                                                   \
                key,                                                                                    \
                name,                                                                                   \
                meaning,                                                                                \
                one,                                                                                    \
                many,                                                                                   \
                rest},
#define PENNA_HEALTH_TARGET(rank, field, how, ...) PENNA_HEALTH_COUNTED(rank, kTarget, h.target.field, __VA_ARGS__)
#define PENNA_HEALTH_RECORDER(rank, field, ...) PENNA_HEALTH_COUNTED(rank, kRecorder, h.recorder.field, __VA_ARGS__)
#define PENNA_HEALTH_FOUND(rank, field, section, ...) PENNA_HEALTH_COUNTED(rank, section, h.field, __VA_ARGS__)
#include "penna/health.inc"
  };
  std::sort(all.begin(), all.end(), [](const HealthCounter& a, const HealthCounter& b) { return a.rank < b.rank; });
  return all;
}();
static_assert(std::adjacent_find(kCounters.begin(), kCounters.end(),
                                 [](const HealthCounter& a, const HealthCounter& b) { return a.rank == b.rank; }) ==
              kCounters.end());

}  // namespace

std::string HealthCounter::sentence(uint64_t count) const {
  return fmt::format("{} {}", plural_text(static_cast<int64_t>(count), one, many), rest);
}

std::span<const HealthCounter> health_counters() { return kCounters; }

std::vector<std::string> closing_sentences(const penna_counters& sums) {
  HealthReport report;
  report.target = sums;
  std::vector<std::string> sentences;
  for (const HealthCounter& counter : kCounters) {
    const uint64_t count = counter.value(report);
    if ((counter.uses & kAtEnd) == 0 || count == 0) continue;
    sentences.push_back(counter.sentence(count));
    if (sentences.back().ends_with('.')) sentences.back().pop_back();
  }
  return sentences;
}

}  // namespace penna

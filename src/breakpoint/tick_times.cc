// SPDX-License-Identifier: MIT
// See tick_times.h.
#include "breakpoint/tick_times.h"

#include <time.h>

#include <algorithm>

#include "penna/clock.h"

namespace penna {

TickTimes::Moment TickTimes::now() {
  constexpr int kReadings = 4;
  Moment best;
  uint64_t smallest = UINT64_MAX;
  for (int i = 0; i < kReadings; ++i) {
    timespec time{};
    const uint64_t before = penna_now();
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    const uint64_t gap = penna_now() - before;
    if (gap >= smallest) continue;
    smallest = gap;
    best = {static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec), before + gap / 2};
  }
  return best;
}

void TickTimes::set_rate() {
  if (last_.ns > first_.ns)
    ticks_per_ns_ = static_cast<double>(last_.ticks - first_.ticks) / static_cast<double>(last_.ns - first_.ns);
}

// The first moments follow closely, so that the rate gets better soon; then the distance stays between one and two
// seconds.
void TickTimes::look(Moment seen) {
  constexpr uint64_t kLongNs = 1'000'000'000;
  const uint64_t known = last_.ns - first_.ns;
  if (seen.ns <= last_.ns || seen.ns - last_.ns < std::min(known, kLongNs)) return;
  const uint64_t reached = at(seen.ns);
  if (known >= kLongNs) first_ = last_;
  last_ = seen;
  line_ = {seen.ns, std::max(seen.ticks, reached)};
  set_rate();
}

uint64_t TickTimes::at(uint64_t ns) const {
  const auto since = static_cast<double>(static_cast<int64_t>(ns - line_.ns)) * ticks_per_ns_;
  return line_.ticks + static_cast<uint64_t>(static_cast<int64_t>(since));
}

}  // namespace penna

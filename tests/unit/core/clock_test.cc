// SPDX-License-Identifier: MIT
// clock.h in both modes, the processor's counter and a platform's own: monotonic, of constant rate, 64 bits wide.
#include <gtest/gtest.h>
#include <time.h>

#include <cstdint>

#include "penna/clock.h"

// The other mode, as a platform would choose it.
#undef PENNA_CLOCK_H
#undef PENNA_CLOCK
#undef PENNA_CLOCK_RATE
#define penna_now platform_now
#define penna_ticks_per_second platform_ticks_per_second
static uint64_t count_of_the_platform();
#define PENNA_CLOCK count_of_the_platform
#define PENNA_CLOCK_RATE 1000000000u
#include "penna/clock.h"  // NOLINT: twice, on purpose
#undef penna_now
#undef penna_ticks_per_second

namespace {

uint64_t monotonic_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// Ticks, and between which times they were read.
struct Moment {
  uint64_t before, ticks, after;
};

struct Mode {
  const char* name;
  uint64_t (*now)();
  uint64_t (*rate)();
};

Moment moment(const Mode& mode) {
  uint64_t before = monotonic_ns(), ticks = mode.now();
  return {before, ticks, monotonic_ns()};
}

void wait_ms(long ms) {
  timespec time{0, ms * 1'000'000};
  while (nanosleep(&time, &time) != 0) {
  }
}

// Least and greatest rate, ticks a nanosecond, that two readings allow.
struct Rate {
  double least, most;
};
Rate rate_between(const Moment& a, const Moment& b) {
  auto ticks = static_cast<double>(b.ticks - a.ticks);
  return {ticks / static_cast<double>(b.after - a.before), ticks / static_cast<double>(b.before - a.after)};
}

const Mode kModes[] = {
#ifndef __arm__  // where user code may be forbidden to read it
    {"processor", penna_now, penna_ticks_per_second},
#endif
    {"platform", platform_now, platform_ticks_per_second}};

TEST(Clock, does_not_go_back) {
  for (const Mode& mode : kModes) {
    uint64_t last = mode.now();
    for (int i = 0; i < 100'000; ++i) {
      uint64_t now = mode.now();
      ASSERT_GE(now, last) << mode.name;
      last = now;
    }
  }
}

TEST(Clock, runs_at_one_rate_which_is_the_one_told) {
  for (const Mode& mode : kModes) {
    Moment a = moment(mode);
    wait_ms(50);
    Moment b = moment(mode);
    wait_ms(250);
    Moment c = moment(mode);
    Rate first = rate_between(a, b), second = rate_between(b, c);
    EXPECT_LE(first.least, second.most * 1.01) << mode.name;
    EXPECT_GE(first.most, second.least * 0.99) << mode.name;
    if (mode.rate() == 0) continue;
    double told = static_cast<double>(mode.rate()) / 1e9;
    EXPECT_LE(second.least, told * 1.01) << mode.name;
    EXPECT_GE(second.most, told * 0.99) << mode.name;
  }
}

// Neither half is missing, on a machine that has run long enough for the upper one to count.
TEST(Clock, has_64_bits) {
  timespec up;
  clock_gettime(CLOCK_BOOTTIME, &up);
  for (const Mode& mode : kModes) {
    Moment a = moment(mode);
    wait_ms(20);
    Moment b = moment(mode);
    EXPECT_NE(static_cast<uint32_t>(a.ticks), static_cast<uint32_t>(b.ticks)) << mode.name;
    if (rate_between(a, b).least * static_cast<double>(up.tv_sec) * 1e9 < 4.0 * UINT32_MAX) continue;
    EXPECT_NE(a.ticks >> 32, 0u) << mode.name;
  }
}

}  // namespace

static uint64_t count_of_the_platform() { return monotonic_ns(); }

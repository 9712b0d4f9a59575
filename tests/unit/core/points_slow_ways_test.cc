// SPDX-License-Identifier: MIT
// The slow paths of points: a chunk that is too old for the time, and full vector registers around code that uses them.
// (points_test.cc has the path of a full chunk.)
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "agent/core/writer.h"
#include "core/fake_agent.h"
#include "penna/point.h"

namespace {

struct PointsSlowWays : testing::Test {
  static void SetUpTestSuite() { fake::start(); }
  void SetUp() override { fake::rewind(); }
};

// Passes one by both entries: numbers are stored by the code at the point, text by the agent.
TEST_F(PointsSlowWays, AChunkThatIsTooOldTakesNoPoint) {
  const std::string text = "text";
  for (const bool with_text : {false, true}) {
    fake::rewind();
    fake::age_chunk();
    fake::renewals = 0;
    const uint64_t before = penna_now();
    if (with_text)
      PENNA_EVENT(slow, text, text);
    else
      PENNA_EVENT(slow, number, 1234);
    const uint64_t after = penna_now();
    const std::vector<fake::Event> events = fake::events();
    EXPECT_EQ(fake::renewals, 1U) << with_text;
    ASSERT_EQ(events.size(), 1U) << with_text;
    EXPECT_LE(before, events[0].time) << with_text;
    EXPECT_LE(events[0].time, after) << with_text;
    ASSERT_EQ(events[0].values.size(), 1U);
    if (with_text)
      EXPECT_EQ(events[0].values[0].text, text);
    else
      EXPECT_EQ(events[0].values[0].word, 1234U);
  }
}

__attribute__((target("avx"))) uint64_t spoil_all(uint64_t a, uint64_t b, uint64_t c) {
  __asm__ volatile("vzeroall" : : : "memory");
  return a * 100 + b * 10 + c;
}

// Upper halves, too.
TEST_F(PointsSlowWays, VectorRegistersAreKeptWhole) {
  if (!__builtin_cpu_supports("avx")) GTEST_SKIP() << "this processor lacks AVX";
  using Registers = std::array<std::array<uint64_t, 4>, 16>;
  Registers in{}, out{};
  for (size_t i = 0; i < 64; ++i) in[i / 4][i % 4] = i * 0x9e3779b97f4a7c15 + 1;
  uint64_t a = 1, b = 2, c = 3, result = 0;
  auto* function = &spoil_all;
  __asm__ volatile(
      ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
      "vmovdqu 32 * \\n(%%rbx), %%ymm\\n\n .endr\n"
      "mov %%rsp, %%r12\n lea -256(%%rsp), %%rsp\n and $-16, %%rsp\n"
      "call penna_point_preserving\n"
      "mov %%r12, %%rsp\n"
      ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
      "vmovdqu %%ymm\\n, 32 * \\n(%[out])\n .endr\n"
      "vzeroupper\n"
      : "=&a"(result), "+D"(a), "+S"(b), "+d"(c), "+c"(function)
      : "b"(&in), [out] "r"(&out)
      : "r8", "r9", "r10", "r11", "r12", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
        "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  EXPECT_EQ(result, 123U);
  EXPECT_EQ(in, out);
}

}  // namespace

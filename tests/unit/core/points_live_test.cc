// SPDX-License-Identifier: MIT
// Points that are armed and disarmed under running threads and signal handlers; and which ones a pattern arms.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/fake_agent.h"
#include "penna/point.h"

namespace {

using namespace penna::agent;

constexpr char kPatterns[] =
    "+live:*\0+other:b?\0+anywhere:*\0+stack:*\0@stack:w*\0@anywhere:*\0";  // and the zero that ends the list

void other_points() {
  PENNA_EVENT(other, aa);
  PENNA_EVENT(other, b1);
  PENNA_EVENT(other, b22);
}

std::atomic<uint64_t> passes{0};

struct Counts {
  uint64_t events = 0, torn = 0;
};

// Passes points for a while on a chunk of this thread, and looks at every record: its values must belong together.
Counts pass_points(const std::atomic<bool>& stop) {
  Counts counts;
  while (!stop.load(std::memory_order_relaxed)) {
    fake::rewind();
    for (uint64_t i = 0; i < 200; ++i) {
      double half = static_cast<double>(i) / 2;
      PENNA_EVENT(live, numbers, i, ~i, half);
      std::string text(i % 40, static_cast<char>('a' + i % 26));
      PENNA_EVENT(live, text, i, text);
    }
    for (const fake::Event& event : fake::events()) {
      ++counts.events;
      uint64_t i = event.values[0].word;
      if (event.values.size() == 3)
        counts.torn += event.values[1].word != ~i ||
                       event.values[2].word != __builtin_bit_cast(uint64_t, static_cast<double>(i) / 2);
      else if (event.values.size() == 2)
        counts.torn += event.values[1].text != std::string(i % 40, static_cast<char>('a' + i % 26));
    }
    passes.fetch_add(1, std::memory_order_relaxed);
  }
  return counts;
}

std::atomic<uint64_t> handled{0};
void handler(int) {
  uint64_t number = handled.fetch_add(1) + 1;
  PENNA_EVENT(live, in_handler, number);
}

class LivePoints : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { fake::start(kPatterns, sizeof kPatterns); }
};

TEST_F(LivePoints, a_pattern_arms_what_it_names_and_no_more) {
  fake::rewind();
  other_points();
  auto events = fake::events();
  ASSERT_EQ(events.size(), 1u);
  ASSERT_NE(fake::site("other", "b1"), nullptr);
  EXPECT_EQ(events[0].site, fake::site("other", "b1")->info.site);
  EXPECT_EQ(fake::site("other", "aa"), nullptr);
  EXPECT_EQ(fake::site("other", "b22"), nullptr);
  EXPECT_NE(fake::site("live", "numbers"), nullptr);
}

struct Frame {
  uintptr_t sp, fp;
};
__attribute__((noinline)) Frame pass_with_stack(const char* text, double& kept) {
  Frame frame;
  __asm__ volatile("mov %%rsp, %0; mov %%rbp, %1" : "=r"(frame.sp), "=r"(frame.fp));
  const double before = kept;
  PENNA_EVENT(stack, words, before);
  PENNA_EVENT(stack, more, before);
  PENNA_EVENT(stack, was, text);
  kept = before * 2;
  return frame;
}

TEST_F(LivePoints, a_walk_begins_with_the_function_that_has_the_point) {
  fake::rewind();
  fake::spoil_vectors = true;
  double kept = 1.25;
  const Frame frame = pass_with_stack("some", kept);
  fake::spoil_vectors = false;
  EXPECT_EQ(kept, 2.5);
  EXPECT_EQ(fake::walk_begin.sp, frame.sp);
  EXPECT_EQ(fake::walk_begin.fp, frame.fp);
  EXPECT_FALSE(fake::walk_begin.exact);
  const auto events = fake::events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].stack, fake::kStack);
  EXPECT_EQ(events[1].stack, 0u);
  EXPECT_EQ(events[2].stack, fake::kStack);
  EXPECT_EQ(events[2].values[0].text, "some");
  fake::rewind();
  other_points();
  EXPECT_EQ(fake::events()[0].stack, 0u);
}

TEST_F(LivePoints, no_event_is_torn_and_nothing_crashes_while_sites_change) {
  std::atomic<bool> stop{false};
  std::vector<Counts> counts(4);
  std::vector<std::thread> threads;
  threads.reserve(counts.size());
  for (Counts& count : counts) threads.emplace_back([&] { count = pass_points(stop); });

  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGUSR1, &action, nullptr);
  for (int round = 0; round < 400; ++round) {
    penna_change_counts change{};
    ASSERT_EQ(change_points("live:*", round % 2 == 1, &change), PENNA_CONTROL_DONE);
    ASSERT_EQ(change.matched, 3u);
    ASSERT_EQ(change.changed, 3u);
    ASSERT_EQ(change.refused, 0u);
    pthread_kill(threads[static_cast<size_t>(round) % threads.size()].native_handle(), SIGUSR1);
    if (round % 16 == 0) std::this_thread::yield();
  }
  // At least one whole pass of each thread with everything armed.
  uint64_t until = passes.load() + 3 * threads.size();
  while (passes.load() < until) std::this_thread::yield();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  uint64_t events = 0;
  for (const Counts& count : counts) {
    EXPECT_EQ(count.torn, 0u);
    events += count.events;
  }
  EXPECT_GT(events, 0u);
  EXPECT_GT(handled.load(), 0u);
}

// One site at each place of a cache line.
#define SITE_AT(offset)                                               \
  asm volatile(".balign 64, 0x90\n.fill " #offset ", 1, 0x90" : : :); \
  PENNA_EVENT(anywhere, at, i, ~i)
#define SITES_FROM(offset) \
  SITE_AT(offset + 0);     \
  SITE_AT(offset + 1);     \
  SITE_AT(offset + 2);     \
  SITE_AT(offset + 3)
#define SITES_FROM_16(offset) \
  SITES_FROM(offset + 0);     \
  SITES_FROM(offset + 4);     \
  SITES_FROM(offset + 8);     \
  SITES_FROM(offset + 12)
void pass_everywhere(uint64_t i) {
  SITES_FROM_16(0);
  SITES_FROM_16(16);
  SITES_FROM_16(32);
  SITES_FROM_16(48);
}

TEST_F(LivePoints, a_slot_may_lie_anywhere_in_a_cache_line) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> torn{0}, events{0};
  auto pass = [&] {
    while (!stop.load(std::memory_order_relaxed)) {
      fake::rewind();
      for (uint64_t i = 0; i < 20; ++i) pass_everywhere(i);
      for (const fake::Event& event : fake::events()) {
        events.fetch_add(1, std::memory_order_relaxed);
        if (event.values[0].word != ~event.values[1].word) torn.fetch_add(1, std::memory_order_relaxed);
      }
    }
  };
  std::thread one(pass), other(pass);
  for (int round = 0; round < 300; ++round) {
    penna_change_counts change{};
    EXPECT_EQ(change_points("anywhere:*", round % 2 == 1, &change), PENNA_CONTROL_DONE);
    EXPECT_EQ(change.changed, 64u);
    EXPECT_EQ(change.refused, 0u);
    if (round % 16 == 0) std::this_thread::yield();
  }
  for (uint64_t until = events.load() + 10'000; events.load() < until;) std::this_thread::yield();
  stop = true;
  one.join();
  other.join();
  EXPECT_EQ(torn.load(), 0u);
  // Among them are slots that lie in two lines.
  unsigned across = 0;
  for (const fake::Site& site : fake::sites())
    across += site.provider == "anywhere" && site.info.address % 64 > 64 - PENNA_SLOT_BYTES;
  EXPECT_GE(across, 4u);
}

}  // namespace

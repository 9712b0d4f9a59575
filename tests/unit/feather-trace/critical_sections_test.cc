// SPDX-License-Identifier: MIT
// Pairing of acquisitions and releases into critical sections, and the lines that feather-trace prints for them.
#include "critical_sections.h"

#include <gtest/gtest.h>

#include "feather-trace/sections_text.h"

namespace penna::critical_sections_test {

constexpr uint64_t kA = 0xa0, kB = 0xb0;

TEST(CriticalSections, OneLineEachInTheFormatThatItAlwaysHad) {
  CriticalSections sections;
  const uint32_t thread = sections.add_thread(140003109168832);
  sections.taken(thread, 0x556afcf9f080, 1795188664859531);
  sections.released(thread, 0x556afcf9f080, 1795188665859632);
  sections.finish();
  const SectionsText text = text_of(sections);
  EXPECT_EQ(text.sections, "1795188664859531, 1795188665859632, 1000101, 0, 140003109168832\n");
  EXPECT_EQ(text.events,
            "  1000, 0x556afcf9f080, 0x7f550396e6c0, 0, 1795188664859531\n"
            "  1001, 0x556afcf9f080, 0x7f550396e6c0, 0, 1795188665859632\n");
  EXPECT_EQ(text.missing, "");
  EXPECT_EQ(text.counts.complete, 1u);
  EXPECT_EQ(text.counts.incomplete, 0u);
}

TEST(CriticalSections, LieInThoseOfTheSameThread) {
  CriticalSections sections;
  const uint32_t one = sections.add_thread(1), two = sections.add_thread(2);
  sections.taken(one, kA, 10);
  sections.taken(two, kB, 11);
  sections.released(two, kB, 12);
  sections.taken(one, kB, 13);
  sections.released(one, kB, 14);
  sections.taken(one, kB, 15);
  sections.released(one, kB, 16);
  sections.released(one, kA, 20);
  sections.finish();
  EXPECT_EQ(text_of(sections).sections,
            "10, 20, 10, 0, 1\n"
            "11, 12, 1, 0, 2\n"
            "13, 14, 1, 1, 1\n"
            "15, 16, 1, 1, 1\n");
}

TEST(CriticalSections, HandOverHand) {
  CriticalSections sections;
  const uint32_t thread = sections.add_thread(1);
  sections.taken(thread, 1, 10);
  sections.taken(thread, 2, 20);
  sections.released(thread, 1, 30);
  sections.taken(thread, 3, 40);
  sections.released(thread, 2, 50);
  sections.released(thread, 3, 60);
  sections.finish();
  EXPECT_EQ(text_of(sections).sections,
            "10, 30, 20, 0, 1\n"
            "20, 50, 30, 1, 1\n"
            "40, 60, 20, 1, 1\n");
}

TEST(CriticalSections, OfARecursiveLockLieInEachOther) {
  CriticalSections sections;
  const uint32_t thread = sections.add_thread(1);
  for (uint64_t time = 1; time <= 3; ++time) sections.taken(thread, kA, time);
  for (uint64_t time = 4; time <= 6; ++time) sections.released(thread, kA, time);
  sections.finish();
  EXPECT_EQ(text_of(sections).sections,
            "1, 6, 5, 0, 1\n"
            "2, 5, 3, 1, 1\n"
            "3, 4, 1, 2, 1\n");
}

TEST(CriticalSections, WithOneEndAreTold) {
  CriticalSections sections;
  const uint32_t one = sections.add_thread(1), two = sections.add_thread(2);
  sections.released(one, kA, 5);  // taken before all began
  sections.taken(one, kB, 10);    // never given back: nothing lies in it
  sections.taken(one, kA, 20);
  sections.released(two, kA, 21);  // by a thread that does not hold it
  sections.released(one, kA, 22);
  sections.taken(two, kA, 30);  // the last of all
  sections.finish();
  const SectionsText text = text_of(sections);
  EXPECT_EQ(text.sections, "20, 22, 2, 0, 1\n");
  EXPECT_EQ(text.missing,
            " 1st missing: 0xa0 released by 0x1 at          5\n"
            " 2nd missing: 0xb0 locked by 0x1 at         10\n"
            " 1st missing: 0xa0 released by 0x2 at         21\n"
            " 2nd missing: 0xa0 locked by 0x2 at         30\n");
  EXPECT_EQ(text.counts.complete, 1u);
  EXPECT_EQ(text.counts.incomplete, 4u);
}

TEST(CriticalSections, OfALockThatWasTakenAgainAndAgain) {
  CriticalSections sections;
  const uint32_t thread = sections.add_thread(1);
  for (uint64_t time = 1; time <= 3; ++time) sections.taken(thread, kA, time);
  sections.released(thread, kA, 4);
  sections.finish();
  const SectionsText text = text_of(sections);
  EXPECT_EQ(text.sections, "3, 4, 1, 0, 1\n");
  EXPECT_EQ(text.counts.incomplete, 2u);
}

TEST(CriticalSections, OfAThreadThatLostEventsAreNotPaired) {
  CriticalSections sections;
  const uint32_t before = sections.add_thread(7);
  sections.taken(before, kA, 1);
  const uint32_t after = sections.add_thread(7);
  sections.released(after, kA, 100);
  sections.finish();
  const SectionsText text = text_of(sections);
  EXPECT_EQ(text.sections, "");
  EXPECT_EQ(text.counts.incomplete, 2u);
}

TEST(CriticalSections, WhoseTimesContradictThemselvesAreCounted) {
  CriticalSections sections;
  const uint32_t thread = sections.add_thread(1);
  sections.taken(thread, kA, 100);
  sections.released(thread, kA, 90);
  sections.finish();
  const SectionsText text = text_of(sections);
  EXPECT_EQ(text.sections, "100, 90, 0, 0, 1\n");
  EXPECT_EQ(text.counts.backwards, 1u);
}

// A million that are open at once: what is quadratic does not end in the time that a test has.
TEST(CriticalSections, TakeLinearTime) {
  CriticalSections sections;
  const uint32_t thread = sections.add_thread(1);
  constexpr uint64_t kMany = 1'000'000;
  for (uint64_t i = 0; i < kMany; ++i) sections.taken(thread, i % 2 == 0 ? kA : i, i);
  for (uint64_t i = kMany; i-- > 0;) sections.released(thread, i % 2 == 0 ? kA : i, 2 * kMany - i);
  sections.finish();
  uint64_t paired = 0, deepest = 0;
  sections.for_each([&](const SectionEvent& event) {
    paired += event.other.has_value();
    deepest = std::max<uint64_t>(deepest, event.nesting);
  });
  EXPECT_EQ(paired, 2 * kMany);
  EXPECT_EQ(deepest, kMany - 1);
}

}  // namespace penna::critical_sections_test

// SPDX-License-Identifier: MIT
// Information needed for limits: for each thing that may be missing, whether the true value may be higher or lower.
#include "model/verdict/check_needs.h"

#include <gtest/gtest.h>

#include "../report/sample_recording.h"

namespace penna::check_needs_test {
namespace {

// "more", "less", "more less" or "": of all that is missing.
std::string directions(const std::vector<Missing>& list) {
  bool more = false, less = false;
  for (const Missing& one : list) {
    EXPECT_FALSE(one.reason.empty());
    more |= one.more;
    less |= one.less;
  }
  return more && less ? "more less" : more ? "more" : less ? "less" : "";
}

TEST(CheckNeeds, OfEvents) {
  const auto with = [](auto change) {
    HealthReport health;
    change(health);
    return std::vector{directions(missing_events(health, PENNA_ALLOC, Ends::kCount)),
                       directions(missing_events(health, PENNA_ALLOC, Ends::kDoNotCount)),
                       directions(missing_events(health, PENNA_LOCKS, Ends::kCount))};
  };
  using Three = std::vector<std::string>;
  EXPECT_EQ(with([](HealthReport&) {}), (Three{"", "", ""}));
  EXPECT_EQ(with([](HealthReport& health) { health.lost[PENNA_ALLOC] = 1; }), (Three{"more less", "more", ""}));
  EXPECT_EQ(with([](HealthReport& health) { health.thrown_away[PENNA_LOCKS] = 1; }), (Three{"", "", "more less"}));
  EXPECT_EQ(with([](HealthReport& health) { health.finished = false; }), (Three{"more less", "more", "more less"}));
  const auto noted = [&](uint32_t missed) {
    return with([&](HealthReport& health) { health.notes = {"a note"}, health.missed_by_notes = {missed}; });
  };
  EXPECT_EQ(noted(0), (Three{"", "", ""}));
  EXPECT_EQ(noted(1u << PENNA_ALLOC), (Three{"more", "more", ""}));
  EXPECT_EQ(noted(1u << PENNA_ALLOC | kNoteOfHalf), (Three{"more less", "more", ""}));
  EXPECT_EQ(noted(kNoteOfAllClasses), (Three{"more", "more", "more"}));
  EXPECT_EQ(with([&](HealthReport& health) { health.missed_by_notes = {kNoteOfAllClasses}; }),
            (Three{"more", "more", "more"}));  // the note found no room
  HealthReport health;
  health.notes = {"a program was not recorded"};
  health.missed_by_notes = {kNoteOfAllClasses};
  EXPECT_TRUE(missing_events(health, PENNA_ALLOC, Ends::kCount, false).empty());
}

TEST(CheckNeeds, OfBlocks) {
  RecordingBuilder build;
  const Recording recording = build.open();
  const auto with = [&](auto change) {
    HealthReport health;
    change(health);
    return directions(missing_blocks(recording, health, Ends::kCount)) + ", " +
           directions(missing_blocks(recording, health, Ends::kDoNotCount));
  };
  EXPECT_EQ(with([](HealthReport&) {}), ", ");
  EXPECT_EQ(with([](HealthReport& health) { health.target.allocators_refused = 1; }), "more less, more");
  EXPECT_EQ(with([](HealthReport& health) { health.target.ended_at_once = 1; }), "less, ");
  EXPECT_EQ(with([](HealthReport& health) { health.unmatched_frees = 1; }), "more, more");
  EXPECT_EQ(with([](HealthReport& health) { health.replaced_blocks = 1; }), "less, ");
}

TEST(CheckNeeds, OfStacks) {
  EXPECT_FALSE(missing_stacks(0, "it"));
  EXPECT_EQ(directions({*missing_stacks(1, "it")}), "more");
}

TEST(CheckNeeds, OfSamples) {
  const auto state = [](uint64_t found, uint64_t allowed, std::optional<uint64_t> samples = {},
                        Verdict::Unit unit = Verdict::Unit::kBytes) {
    Verdict verdict;
    verdict.unit = unit;
    verdict.found = found;
    verdict.allowed = allowed;
    if (auto missing = missing_samples(verdict, 1000, samples)) verdict.missing.push_back(*missing);
    return verdict.is_broken() ? "broken" : verdict.is_unknown() ? "unknown" : "kept";
  };
  EXPECT_FALSE(missing_samples({}, 0, {}));
  EXPECT_STREQ(state(0, 0), "unknown");  // nothing was met by chance
  EXPECT_STREQ(state(1000, 0), "broken");
  EXPECT_STREQ(state(0, 1'000'000), "kept");
  EXPECT_STREQ(state(1'000'000, 1'010'000), "unknown");
  EXPECT_STREQ(state(1'010'000, 1'000'000), "unknown");
  EXPECT_STREQ(state(1'000'000, 2'000'000), "kept");
  EXPECT_STREQ(state(2'000'000, 1'000'000), "broken");
  EXPECT_STREQ(state(1'000'000, 1'100'000, 10'000), "kept");
  EXPECT_STREQ(state(1'000'000, 1'100'000, 100), "unknown");
  EXPECT_STREQ(state(5, 6, {}, Verdict::Unit::kCount), "unknown");
  EXPECT_STREQ(state(7, 6, {}, Verdict::Unit::kCount), "unknown");
  EXPECT_STREQ(state(1, 0, {}, Verdict::Unit::kCount), "broken");
}

}  // namespace
}  // namespace penna::check_needs_test
